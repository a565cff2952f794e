//! The reservations of the lanes (microarchitecture/bus.md).

/// Cycles of a turn of the counter that ages reservations.
const TURN: u32 = 256;

/// Bank and row.
type BankRow = (usize, usize);

/// The reservation of a lane.
#[derive(Clone, Copy, Debug, Default)]
struct Reservation {
    word: Option<BankRow>,
    owner: u8,
    /// Turns of the counter for which another warp leaves it alone.
    turns: u8,
    /// Whether the reservation was taken or used in this cycle.
    touched: bool,
}

/// The reservations of all lanes; empty without atomic operations.
#[derive(Clone, Debug)]
pub(super) struct Reservations {
    lanes: Vec<Reservation>,
    /// The counter.
    age: u32,
}

impl Reservations {
    pub(super) fn new(lanes: usize) -> Self {
        Reservations {
            lanes: vec![Reservation::default(); lanes],
            age: 0,
        }
    }

    /// Returns to the state after a reset.
    pub(super) fn clear(&mut self) {
        self.lanes.fill(Reservation::default());
        self.age = 0;
    }

    /// A load-reserved of `warp` in `lane`. It leaves the reservation of another warp
    /// alone while that is young.
    pub(super) fn load(&mut self, lane: usize, warp: u8, word: BankRow) {
        let Some(own) = self.lanes.get_mut(lane) else {
            return;
        };
        if own.turns == 0 || own.owner == warp {
            *own = Reservation {
                word: Some(word),
                owner: warp,
                turns: 2,
                touched: true,
            };
        }
    }

    /// A store-conditional; whether it finds its reservation, which it ends.
    pub(super) fn conditional(&mut self, lane: usize, warp: u8, word: BankRow) -> bool {
        let own = self.lanes.get_mut(lane).filter(|own| own.owner == warp);
        let Some(own) = own else {
            return false;
        };
        (own.turns, own.touched) = (0, true);
        own.word.take() == Some(word)
    }

    /// The word is written.
    pub(super) fn end(&mut self, word: BankRow) {
        let of_word = |own: &&mut Reservation| own.word == Some(word);
        let ended = self.lanes.iter_mut().filter(of_word);
        ended.for_each(|own| own.word = None);
    }

    /// The clock edge, after what the accesses of the cycle did.
    pub(super) fn tick(&mut self) {
        let turn = self.age == TURN - 1;
        self.age = (self.age + 1) % TURN;
        for own in &mut self.lanes {
            if turn && !own.touched {
                own.turns = own.turns.saturating_sub(1);
            }
            own.touched = false;
        }
    }
}
