//! The registers of a thread: one answer for all that counts resident blocks.

use super::{Assembled, Assembler};
use spadkit_base::error::Result;
use spadkit_ptx::Module;
use spadkit_rtl::tool::Toolbox;
use spadkit_sm::config::Config;

/// The registers that `ptxas` allocates, if it ran, else the number that the
/// user gives; `None` without either.
pub fn allocated(assembled: Option<&Assembled>, given: Option<u32>) -> Option<u32> {
    assembled.map(|a| a.registers).or(given)
}

/// The registers of a thread of `entry` on `machine`, as [`allocated`].
///
/// `ptxas` is asked where it is installed and the machine is a GPU of today: of
/// the papers' machines it knows nothing. An error is one of `ptxas`.
pub fn registers(
    module: &Module,
    entry: &str,
    machine: &Config,
    given: Option<u32>,
) -> Result<Option<u32>> {
    let Some(sm) = machine.compute_capability else {
        return Ok(given);
    };
    let assembled = match Assembler::find(&Toolbox::new(), module, Some(sm))? {
        Some(assembler) => Some(assembler.assemble(&module.text, entry)?),
        None => None,
    };
    Ok(allocated(assembled.as_ref(), given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_assembler_comes_before_the_user() {
        let assembled = Assembled {
            registers: 40,
            instructions: 1,
            spilled_bytes: 0,
        };
        assert_eq!(allocated(Some(&assembled), Some(64)), Some(40));
        assert_eq!(allocated(None, Some(64)), Some(64));
        assert_eq!(allocated(None, None), None);
    }

    #[test]
    fn the_machines_of_the_papers_take_what_is_given() {
        let module = Module::parse(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n",
            "k.ptx",
        );
        let machine = Config::preset("fermi").unwrap();
        let found = registers(&module.unwrap(), "k", &machine, Some(20)).unwrap();
        assert_eq!(found, Some(20));
    }
}
