//! Counting every record of a piece.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use crate::piece::{CALL, CLOCK, Continuations, OBJECT, OPEN, Piece, Slots, read_piece};

/// Counts of a piece, as `akvsite.scan._tally.Found` has them.
pub struct Found {
    pub kinds: [u64; 256],
    /// Calls by name id, open ones too.
    pub names: BTreeMap<u16, u64>,
    pub attached: u64,
    pub unknown_words: u64,
    pub first_ns: Option<u64>,
    pub last_ns: Option<u64>,
}

pub fn tally(file: &File, slots: Slots, piece: Piece) -> io::Result<Found> {
    let mut kinds = [0; 256];
    let mut names = vec![0u64; 1 << 16];
    let (mut first, mut last) = (u64::MAX, 0);
    let (mut attached, mut unknown_words) = (0, 0);
    let mut continuations = Continuations::default();
    read_piece(file, slots, piece, |block| {
        continuations.each(block, |place| {
            attached += 1;
            unknown_words += u64::from(!(1..=4).contains(&(block.records[place][1] & 0xffff)));
        });
        if block.ahead {
            return;
        }
        for (record, &kind) in block.records.iter().zip(block.kinds) {
            kinds[kind as usize] += 1;
            match kind {
                OPEN | CALL => names[(record[0] >> 16) as u16 as usize] += 1,
                OBJECT | CLOCK | 16..=63 => {}
                _ => continue,
            }
            // Only times of the host's clock count, and 0 is none.
            for time in [record[1], record[2]] {
                if time > 0 {
                    (first, last) = (first.min(time), last.max(time));
                }
            }
        }
    })?;
    let named = names.into_iter().enumerate().filter(|&(_, count)| count > 0);
    let names = named.map(|(id, count)| (id as u16, count)).collect();
    let (first_ns, last_ns) = if last > 0 { (Some(first), Some(last)) } else { (None, None) };
    Ok(Found { kinds, names, attached, unknown_words, first_ns, last_ns })
}
