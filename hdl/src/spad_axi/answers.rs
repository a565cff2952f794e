//! Requests that wait for the memory's answers, and the answers of the port.

use super::{Answer, Axi, InFlight, ROOM, Read, Request, Written};
use crate::signal::{Bits, Operand, Signal, concat};

impl Axi<'_> {
    /// The memory's answer. With several lanes it is complete once all have
    /// answered; earlier answers wait, and `taken` takes one of each.
    pub(super) fn lanes_answer(&self, taken: Signal) -> Answer {
        let (u, s, io) = (self.u, self.s, self.io);
        if s.XL.value() == Some(1) {
            return Answer {
                valid: io.tcdm_r_valid,
                data: io.tcdm_r_rdata,
                nothing: io.tcdm_r_opc,
            };
        }
        u.section("The answers of each lane wait for those of the others.");
        let arrived = u.wire("arrived", s.XL);
        let room = u.wire_in_part("lane_room", s.XL, ROOM);
        let data = u.wire("lane_data", s.XL * s.D);
        let nothing = u.wire("lane_nothing", s.XL);
        let [i] = u.indices(["i"]);
        u.generate(|| {
            u.each("lane", i, (0, s.XL), |i| {
                let answer = u.wire("of_lane", s.D + 1);
                let given = [io.tcdm_r_opc.at(i), io.tcdm_r_rdata.part(i * s.D, s.D)];
                self.queue(
                    ("waiting", "LANE_ANSWER"),
                    (io.tcdm_r_valid.at(i), concat(given), room.at(i)),
                    (arrived.at(i), answer.into(), taken.into()),
                );
                u.assign(data.part(i * s.D, s.D), answer.part(0, s.D));
                u.assign(nothing.at(i), answer.at(s.D));
            });
        });
        Answer {
            valid: u.name("all_arrived", arrived.all()),
            data,
            nothing,
        }
    }

    /// The requests that are not answered; one comes with `write` or `read`, and
    /// the oldest leaves when the memory has `answered`.
    pub(super) fn in_flight(&self, write: Signal, read: Signal, answered: Signal) -> InFlight {
        let (u, s) = (self.u, self.s);
        u.section("The requests that are not answered, the oldest first.");
        let [ready, valid] = u.wires(["order_ready", "order_valid"], 1);
        let picked = Request::wires(u, s, "picked");
        let oldest = Request::wires(u, s, "oldest");
        let enters = u.name("enters", write | read);
        self.queue(
            ("order", "PENDING"),
            (enters.into(), picked.joined(s), ready.into()),
            (valid.into(), oldest.joined(s), answered.into()),
        );
        InFlight {
            ready,
            picked,
            valid,
            oldest,
        }
    }

    /// The answers of the memory, and those at R and B.
    pub(super) fn answer(&self, flight: InFlight, given: Answer, answered: Signal) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("The memory answers the oldest request.");
        let of = flight.oldest;
        u.assign(answered, flight.valid & given.valid);
        let code = u.wire("code", 2);
        u.assign(code.at(0), of.code.at(0));
        u.assign(code.at(1), of.code.at(1) | given.nothing.any());
        let failed = u.register("failed", 2).reset(0);
        let all = u.name("all", failed | code);
        let is_write = u.name("is_write", answered & of.writes);
        let next = all.gated(!of.last);
        u.at_clock().when(is_write).next(failed, next);

        u.paragraph();
        let read = Read::<Operand> {
            last: of.last.into(),
            resp: code.into(),
            data: given.data.gated(!code.at(1)).into(),
            id: of.id.into(),
        };
        let shown = Read {
            last: io.axi_rlast,
            resp: io.axi_rresp,
            data: io.axi_rdata,
            id: io.axi_rid,
        };
        let is_read = u.name("is_read", answered & !of.writes);
        let room = u.wire_in_part("read_room", 1, ROOM);
        self.queue(
            ("read_answers", "ANSWER"),
            (is_read.into(), read.joined(s), room.into()),
            (io.axi_rvalid.into(), shown.joined(s), io.axi_rready.into()),
        );
        u.paragraph();
        let written = Written {
            resp: all,
            id: of.id,
        };
        let shown = Written {
            resp: io.axi_bresp,
            id: io.axi_bid,
        };
        let ends = u.name("write_ends", is_write & of.last);
        let room = u.wire_in_part("write_room", 1, ROOM);
        self.queue(
            ("write_answers", "RESPONSE"),
            (ends.into(), written.joined(s), room.into()),
            (io.axi_bvalid.into(), shown.joined(s), io.axi_bready.into()),
        );
    }
}
