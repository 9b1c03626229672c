//! The fast engine of `akvsite.scan`: records of akvlog files (`shim/AKVLOG.md`) and Unified Runtime text logs as Arrow
//! columns. What a file is, which of its records may be there and what the columns are called is decided in Python;
//! this crate fills columns, and the numpy engine fills the same ones.

pub mod columns;
pub mod piece;
mod python;
pub mod tally;
mod ur_line;
pub mod ur_text;
