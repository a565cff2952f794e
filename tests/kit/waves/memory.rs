//! The memory path: hash stage, arbiter, scratchpad, locks, retry loop.

use crate::waves::wave::{Value, Wave};
use spadkit::config::{Config, RetryLatencies};
use spadkit::model::spad_retry_sequencer::{State, aop};
use spadkit::model::spad_scratchpad::op;
use spadkit::model::{
    ArbiterInputs, AtomicPass, BankInputs, BankRam, ByteMerging, ConflictArbiter, HashStage,
    HashStageInputs, LockInputs, LockUnit, Operands, Pass, PassControl, PassData, RetrySequencer,
    Scratchpad, ScratchpadInputs, SequencerInputs, SequencerRequest, SequencerResponse,
};

const LANES: usize = 8;
const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// Eight lanes, eight banks, four memory stages.
fn small() -> Config {
    Config::preset("small").unwrap()
}

/// A mask of lanes; nothing if there is none.
fn lanes(mask: u64) -> Value {
    match mask {
        0 => "".into(),
        mask => format!("0x{mask:02x}").into(),
    }
}

fn op_name(op: u8) -> &'static str {
    match op {
        op::PASS => "PASS",
        op::LOAD => "LOAD",
        op::STORE => "STORE",
        op::LDLK => "LDLK",
        op::STUL => "STUL",
        _ => panic!("operation {op}"),
    }
}

pub fn hash_stage() -> Wave {
    let mut wave = Wave::new("spad_hash_stage, H = 1, XOR hash: passes A, B, C; lane 1 is shown");
    let mut config = Config::preset("fermi").unwrap();
    config.path.hash_stage = 1;
    let mut stage = HashStage::new(&config);
    stage.load(&"xor".parse().unwrap()).unwrap();
    let mut data = [PassData::EMPTY; 3];
    let addresses = [32, 66, 97];
    let mut next = 0;
    for cycle in 1..=7 {
        let inputs = HashStageInputs {
            input: (next < data.len()).then_some(Pass {
                control: PassControl::default(),
                slot: next as u8,
            }),
            out_ready: !(3..=4).contains(&cycle),
            ..HashStageInputs::default()
        };
        if let Some(pass) = inputs.input {
            let operands = Operands {
                mask: 0b10,
                addr: &[addresses[next]; 64],
                data: &[0; 64],
                be: &[0; 64],
                aop: 0,
            };
            let kind = spadkit::model::kind::LOAD;
            stage.fill(kind, &operands, 0, &mut data[usize::from(pass.slot)]);
        }
        let out = stage.step(&inputs);
        let name = |pass: Option<Pass>| pass.map_or("", |pass| NAMES[usize::from(pass.slot)]);
        let of = |f: fn(&PassData) -> u64| -> Value {
            match out.output {
                Some(pass) => f(&data[usize::from(pass.slot)]).into(),
                None => "".into(),
            }
        };
        wave.cycle();
        wave.input("in_valid", inputs.input.is_some());
        wave.input("in_ctl", name(inputs.input));
        let address = inputs.input.map(|_| u64::from(addresses[next]));
        wave.input("in_addr[1]", address.map_or("".into(), Value::from));
        wave.output("in_ready", out.in_ready);
        wave.output("hx_valid", out.hx_valid);
        wave.output("out_ctl", name(out.output));
        wave.output("out_bank[1]", of(|data| data.bank[1].into()));
        wave.output("out_row[1]", of(|data| data.row[1].into()));
        wave.input("out_ready", inputs.out_ready);
        next += usize::from(out.in_ready && inputs.input.is_some());
    }
    wave
}

/// Banks and rows of the lanes: one lane per bank, but the first `degree` lanes
/// on different rows of bank 0.
fn places(degree: u8) -> ([u8; LANES], [u16; LANES]) {
    let conflicts = |lane: usize| lane < usize::from(degree);
    let bank = |lane| if conflicts(lane) { 0 } else { lane as u8 };
    let row = |lane| if conflicts(lane) { lane as u16 } else { 0 };
    (std::array::from_fn(bank), std::array::from_fn(row))
}

pub fn conflict_arbiter() -> Wave {
    let mut wave = Wave::new("spad_conflict_arbiter, 8 lanes: A of degree 3, B of degree 1");
    let mut arbiter = ConflictArbiter::new(LANES, true, ByteMerging::of(&small()));
    let mut next = 0;
    for cycle in 1..=7 {
        let (bank, row) = places([3, 1, 0][next]);
        let inputs = ArbiterInputs {
            rst: false,
            req_valid: next < 2,
            req_mask: 0xff,
            req_access: true,
            req_bank: &bank,
            req_row: &row,
            req_be: &[0; LANES],
            adv: cycle != 3,
        };
        let out = arbiter.step(&inputs);
        let group = &out.group;
        wave.cycle();
        wave.input("req_valid", inputs.req_valid);
        wave.input("access", ["A", "B", ""][next]);
        wave.output("req_ready", out.req_ready);
        wave.output("grp_valid", group.valid);
        wave.output("grp_served", lanes(group.served));
        wave.output("grp_leader", lanes(group.leader));
        wave.output("grp_degree", Value::from(u64::from(group.degree)));
        wave.output("grp_last", group.last);
        wave.input("adv", inputs.adv);
        next += usize::from(out.req_ready && inputs.req_valid);
    }
    wave
}

pub fn scratchpad() -> Wave {
    let mut wave = Wave::new(
        "spad_scratchpad, MS = 4: a store, a load of degree 3, a load; the answer waits in cycle 8",
    );
    let mut unit: Scratchpad<&'static str> = Scratchpad::new(&small());
    let script = [(op::STORE, 1), (op::LOAD, 3), (op::LOAD, 1)];
    let mut next = 0;
    for cycle in 1..=11 {
        let (op, degree) = script.get(next).copied().unwrap_or_default();
        let (bank, row) = places(degree);
        let offered = next < script.len();
        let tag = if offered { NAMES[next] } else { "" };
        let inputs = ScratchpadInputs {
            rst: false,
            req_valid: offered,
            req_op: op,
            req_mask: if offered { 0xff } else { 0 },
            req_bank: &bank,
            req_row: &row,
            req_lock: &[0; LANES],
            req_data: &[7; LANES],
            req_be: &[0xf; LANES],
            req_tag: tag,
            resp_ready: cycle != 8,
        };
        let out = unit.step(&inputs);
        wave.cycle();
        wave.input("req_valid", offered);
        wave.input("req_op", if offered { op_name(op) } else { "" });
        wave.input("req_tag", tag);
        wave.output("req_ready", out.req_ready);
        wave.output("busy_more", out.busy_more);
        for stage in 0..3 {
            let name = format!("stages[{stage}] (MEM{})", stage + 1);
            wave.output(&name, out.stages >> stage & 1 == 1);
        }
        wave.output("resp_valid", out.resp.valid);
        wave.output("resp_tag", out.resp.tag);
        let shown = |word: u64| -> Value {
            if out.resp.valid {
                word.into()
            } else {
                "".into()
            }
        };
        wave.output("resp_degree", shown(out.resp.degree.into()));
        wave.output("resp_data[7]", shown(out.resp_data[7]));
        wave.input("resp_ready", inputs.resp_ready);
        wave.output("blocked", out.blocked);
        next += usize::from(out.req_ready && offered);
    }
    wave
}

pub fn lock_unit() -> Wave {
    let mut wave =
        Wave::new("spad_lock_unit, 8 lanes, LKG = 2; locks of lanes 0 to 7: 3 3 4 5 3 4 6 6");
    let mut unit = LockUnit::new(LANES as u32, 2);
    let locks = [3, 3, 4, 5, 3, 4, 6, 6];
    let idle = (op::PASS, 0, 0);
    let script = [
        (op::LDLK, 0, 0xff),
        (op::LDLK, 1, 0xff),
        idle,
        (op::STUL, 0, 0x4d),
        (op::STUL, 1, 0x4d),
        (op::LDLK, 0, 0xb2),
        (op::LDLK, 1, 0xb2),
        idle,
    ];
    for (op, window, req) in script {
        let inputs = LockInputs {
            rst: false,
            valid: req != 0,
            window,
            op,
            req,
            addr: &locks,
        };
        let out = unit.step(&inputs);
        wave.cycle();
        wave.input("lk_valid", inputs.valid);
        wave.input("lk_op", if inputs.valid { op_name(op) } else { "" });
        let window: Value = if inputs.valid {
            u64::from(window).into()
        } else {
            "".into()
        };
        wave.input("lk_win", window);
        wave.input("lk_req", lanes(req));
        wave.output("lk_success", lanes(out.success));
        for lock in 3..=6 {
            wave.output(&format!("lk_held[{lock}]"), out.held[0] >> lock & 1 == 1);
        }
    }
    wave
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Idle => "IDLE",
        State::Read => "READ",
        State::Update => "UPDATE",
        State::Write => "WRITE",
        State::Branch => "BRANCH",
        State::Done => "DONE",
    }
}

/// The scratchpad's request port as the sequencer drives it.
fn driven(request: Option<&SequencerRequest<u8>>) -> ScratchpadInputs<'_, u8> {
    const IDLE: &SequencerRequest<u8> = &SequencerRequest {
        op: 0,
        mask: 0,
        bank: [0; 64],
        row: [0; 64],
        lock: [0; 64],
        data: [0; 64],
        tag: 0,
        error: false,
        degree: 0,
    };
    let sp = request.unwrap_or(IDLE);
    ScratchpadInputs {
        rst: false,
        req_valid: request.is_some(),
        req_op: sp.op,
        req_mask: sp.mask,
        req_bank: &sp.bank[..LANES],
        req_row: &sp.row[..LANES],
        req_lock: &sp.lock[..LANES],
        req_data: &sp.data[..LANES],
        req_be: &[0xf; LANES],
        req_tag: 0,
        resp_ready: true,
    }
}

pub fn retry_sequencer() -> Wave {
    let mut wave = Wave::new(
        "spad_retry_sequencer, all latencies 1, MS = 2: lanes 0 and 1 add 5 to one word, in two rounds",
    );
    let mut config = small();
    config.path.mem_stages = 2;
    config.path.retry = RetryLatencies {
        read: 1,
        update: 1,
        write: 1,
        branch: 1,
    };
    let mut unit: RetrySequencer<u8> = RetrySequencer::new(&config);
    let mut memory: Scratchpad<u8> = Scratchpad::new(&config);
    let pass = AtomicPass {
        aop: aop::ADD,
        mask: 0b11,
        bank: &[0; LANES],
        row: &[0; LANES],
        lock: &[0; LANES],
        data: &[5; LANES],
        tag: 0,
    };
    for cycle in 1..=17 {
        let out = unit.eval();
        let request = driven(out.sp.as_ref());
        let answer = memory.step(&request);
        let own = answer.resp.valid && answer.resp.op != op::PASS;
        let sr = own.then_some(SequencerResponse {
            mask: answer.resp.mask,
            data: &answer.resp_data,
            success: answer.resp.success,
            error: answer.resp.error,
            degree: answer.resp.degree,
        });
        let inputs = SequencerInputs {
            rst: false,
            at: (cycle == 1).then_some(pass),
            sp_ready: answer.req_ready,
            sr,
        };
        unit.commit(&inputs);
        wave.cycle();
        wave.input("at_valid", inputs.at.is_some());
        wave.output("at_ready", out.at_ready);
        wave.output("state", state_name(out.state));
        wave.output("rounds", u64::from(out.rounds));
        let sp = out.sp.as_ref();
        wave.output("sp_valid", sp.is_some());
        wave.output("sp_op", sp.map_or("", |sp| op_name(sp.op)));
        wave.output("sp_mask", lanes(sp.map_or(0, |sp| sp.mask)));
        let stores = sp.filter(|sp| sp.op != op::LDLK);
        let word = |lane: usize| stores.map_or("".into(), |sp| Value::from(sp.data[lane]));
        wave.output("sp_data[0]", word(0));
        wave.output("sp_data[1]", word(1));
        wave.input("sp_ready", inputs.sp_ready);
        wave.input("sr_valid", own);
        wave.input("sr_success", lanes(sr.map_or(0, |sr| sr.success)));
    }
    wave
}

pub fn bank_ram() -> Wave {
    let mut wave = Wave::new("spad_bank_ram: a word, then a byte; reads in between");
    let mut bank = BankRam::new(16);
    let write = |row, be, wdata| BankInputs {
        en: true,
        we: true,
        be,
        row,
        wdata,
        ..BankInputs::default()
    };
    let read = |row| BankInputs {
        en: true,
        row,
        ..BankInputs::default()
    };
    let idle = BankInputs::default();
    let script = [
        write(3, 0xf, 0xaabb),
        read(3),
        write(3, 0x1, 0xccdd),
        idle,
        read(3),
        idle,
    ];
    for inputs in script {
        let dout = bank.step(&inputs);
        let given = |given: bool, number: u64| -> Value {
            if given {
                format!("{number:x}").into()
            } else {
                "".into()
            }
        };
        wave.cycle();
        wave.input("en", inputs.en);
        wave.input("we", inputs.we);
        wave.input("row", given(inputs.en, inputs.row.into()));
        wave.input("be", given(inputs.we, inputs.be.into()));
        wave.input("wdata", given(inputs.we, inputs.wdata));
        wave.output("dout", format!("{dout:x}"));
    }
    wave
}
