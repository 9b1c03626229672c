//! Consecutive records of a file, read in blocks that stay in the processor's cache.
//!
//! A file may be written, grow or be cut while it is read, so it is read by position and never mapped: what is read
//! cannot change under the reader, and a file that ends early comes back short.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

pub const RECORD_BYTES: u64 = 64;
pub const WORDS: usize = 8;
/// Continuations of one call that are looked for; the recorder writes fewer. It bounds what one row can hold.
pub const MOST_CONTINUATIONS: u64 = 256;
/// Records of one read, 256 KiB: few calls of the system, and still in the second cache.
const READ: u64 = 4096;
/// Records of one block, 16 KiB: columns are made one after the other, and each finds it in the first cache.
pub const BLOCK: usize = 256;

pub const OPEN: u8 = 1;
pub const CALL: u8 = 2;
pub const MORE: u8 = 3;
pub const OBJECT: u8 = 4;
pub const DEVICE: u8 = 5;
pub const CLOCK: u8 = 6;

pub type Record = [u64; WORDS];

/// Where the records of a file lie: index `i` is in slot `i` modulo `capacity`.
#[derive(Clone, Copy)]
pub struct Slots {
    pub at: u64,
    pub capacity: u64,
    /// Where the number of reserved records is, if records may be written over while they are read.
    pub reserved_at: Option<u64>,
}

/// `count` records from index `first` on, then `ahead` ones that the last call may continue in.
#[derive(Clone, Copy)]
pub struct Piece {
    pub first: u64,
    pub count: u64,
    pub ahead: u64,
}

/// Records in a row, and the index of the first.
pub struct Block<'a> {
    pub first: u64,
    /// As many as there are `kinds`; what lies behind them means nothing.
    pub records: &'a [Record; BLOCK],
    /// The kind of each record; 0 where a slot holds none of its index.
    pub kinds: &'a [u8],
    /// Whether they are of the next piece, and here only because a call continues in them.
    pub ahead: bool,
}

impl Block<'_> {
    pub fn index(&self, place: usize) -> u64 {
        self.first.wrapping_add(place as u64)
    }
}

/// Hand the records of a piece over block by block; last the continuations that follow it directly, as a block that is
/// `ahead`.
pub fn read_piece(file: &File, slots: Slots, piece: Piece, mut take: impl FnMut(&Block)) -> io::Result<()> {
    let mut buffer = vec![[[0u64; WORDS]; BLOCK]; (piece.count.min(READ) as usize).div_ceil(BLOCK).max(1)];
    let mut kinds = Vec::with_capacity(BLOCK);
    let mut done = 0;
    while done < piece.count {
        let count = (piece.count - done).min(READ) as usize;
        read(file, slots, piece.first.wrapping_add(done), &mut buffer.as_flattened_mut()[..count])?;
        for (place, records) in (0..count).step_by(BLOCK).zip(&buffer) {
            let first = piece.first.wrapping_add(done + place as u64);
            read_kinds(&mut kinds, first, &records[..(count - place).min(BLOCK)]);
            take(&Block { first, records, kinds: &kinds, ahead: false });
        }
        done += count as u64;
    }
    let first = piece.first.wrapping_add(piece.count);
    let ahead = piece.ahead.min(MOST_CONTINUATIONS) as usize;
    let records = &mut buffer[0];
    read(file, slots, first, &mut records[..ahead])?;
    read_kinds(&mut kinds, first, &records[..ahead]);
    let follow = kinds.iter().take_while(|&&kind| kind == MORE).count();
    take(&Block { first, records, kinds: &kinds[..follow], ahead: true });
    Ok(())
}

const _: () = assert!(MOST_CONTINUATIONS as usize <= BLOCK, "those ahead are one block");

fn read_kinds(kinds: &mut Vec<u8>, first: u64, records: &[Record]) {
    kinds.clear();
    kinds.extend(records.iter().zip(1..).map(|(record, next)| {
        let whole = (record[0] >> 32) as u32 == (first as u32).wrapping_add(next);
        if whole { record[0] as u8 } else { 0 }
    }));
}

/// Finds the continuations of calls, block after block.
#[derive(Default)]
pub struct Continuations {
    /// Index of the call that a continuation at the start of the next block belongs to.
    call: Option<u64>,
}

impl Continuations {
    /// The places in a block of continuations that follow a call; any other continuation is a stray.
    pub fn each(&mut self, block: &Block, mut take: impl FnMut(usize)) {
        let call_at = |place: usize| matches!(block.kinds[place], OPEN | CALL).then(|| block.index(place));
        let mut run = 0;
        for place in memchr::memchr_iter(MORE, block.kinds) {
            // The first of a run belongs to the record before it, the others to the same.
            if place != run {
                self.call = call_at(place - 1);
            }
            run = place + 1;
            if self.call.is_some_and(|call| block.index(place).wrapping_sub(call) <= MOST_CONTINUATIONS) {
                take(place);
            }
        }
        if run < block.kinds.len() {
            self.call = call_at(block.kinds.len() - 1);
        }
    }
}

/// Fill `records` from index `first` on; zeros where the file ends early.
fn read(file: &File, slots: Slots, first: u64, records: &mut [Record]) -> io::Result<()> {
    if slots.capacity == 0 {
        records.fill([0; WORDS]);
        return Ok(());
    }
    let (slot, count) = (first % slots.capacity, records.len() as u64);
    let before_turn = (slots.capacity - slot).min(count) as usize;
    let (before, after) = records.split_at_mut(before_turn);
    fill(file, before.as_flattened_mut(), slots.at.saturating_add(slot.saturating_mul(RECORD_BYTES)))?;
    fill(file, after.as_flattened_mut(), slots.at)?;
    if let Some(reserved_at) = slots.reserved_at {
        // A slot is reserved again before it is written again: what may be half of the next lap is left out.
        let mut reserved = [0];
        fill(file, &mut reserved, reserved_at)?;
        let turned = reserved[0].saturating_sub(slots.capacity).saturating_sub(first);
        records[..turned.min(count) as usize].fill([0; WORDS]);
    }
    Ok(())
}

fn fill(file: &File, words: &mut [u64], at: u64) -> io::Result<()> {
    let bytes = as_bytes(words);
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], at.saturating_add(done as u64)) {
            Ok(0) => break,
            Ok(got) => done += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes[done..].fill(0);
    #[cfg(target_endian = "big")]
    words.iter_mut().for_each(|word| *word = u64::from_le(*word));
    Ok(())
}

fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: every bit pattern is a valid u64 and a valid u8, u8 has no alignment, and the borrow goes on.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}
