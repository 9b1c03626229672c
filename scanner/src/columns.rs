//! Records of one sort as Arrow columns, in the order of `akvsite/scan/_tables.py`.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::types::{Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, ListArray, PrimitiveArray, UInt64Array};
use arrow_buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use crate::piece::{
    BLOCK, Block, CALL, CLOCK, Continuations, DEVICE, OBJECT, OPEN, Piece, Record, Slots, read_piece,
};

const WORDS_MOST: u64 = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Calls,
    Devices,
    Objects,
    Clocks,
    Marks,
}

impl Table {
    pub fn named(name: &str) -> Option<Table> {
        Some(match name {
            "calls" => Table::Calls,
            "devices" => Table::Devices,
            "objects" => Table::Objects,
            "clocks" => Table::Clocks,
            "marks" => Table::Marks,
            _ => return None,
        })
    }

    fn kinds(self) -> RangeInclusive<u8> {
        match self {
            Table::Calls => OPEN..=CALL,
            Table::Devices => DEVICE..=DEVICE,
            Table::Objects => OBJECT..=OBJECT,
            Table::Clocks => CLOCK..=CLOCK,
            Table::Marks => 16..=63,
        }
    }
}

/// The columns of each of `tables` in a piece, read in one pass; empty for one that has no rows.
pub fn columns(file: &File, slots: Slots, piece: Piece, tables: &[Table]) -> io::Result<Vec<Vec<ArrayRef>>> {
    let mut found: Vec<Rows> = tables.iter().map(|_| Rows::default()).collect();
    let mut lists = Lists::default();
    read_piece(file, slots, piece, |block| {
        for (table, rows) in tables.iter().zip(&mut found) {
            rows.take(block, table.kinds(), piece.count as usize);
            if *table == Table::Calls {
                lists.take(block, rows);
            }
        }
    })?;
    let mut lists = Some(lists);
    Ok(tables.iter().zip(found).map(|(&table, rows)| finish(table, rows, &mut lists)).collect())
}

fn finish(table: Table, rows: Rows, lists: &mut Option<Lists>) -> Vec<ArrayRef> {
    if rows.index.is_empty() {
        return Vec::new();
    }
    if table == Table::Calls {
        return calls(rows, lists.take().unwrap_or_default());
    }
    let (index, thread) = (array::<UInt64Type>(rows.index), array::<UInt32Type>(rows.thread));
    let result = array::<Int32Type>(rows.result);
    let [_, a, b, _, four, five, six, seven] = rows.words.map(array::<UInt64Type>);
    match table {
        Table::Objects => vec![index, a, thread, result, four, five],
        Table::Marks => {
            let (kind, flags) = (array::<UInt8Type>(rows.kind), array::<UInt8Type>(rows.flags));
            let name = array::<UInt16Type>(rows.name);
            vec![index, kind, flags, name, thread, a, b, result, four, five, six, seven]
        }
        _ => vec![index, a, b, thread, result, four, five, six, seven],
    }
}

fn calls(mut rows: Rows, lists: Lists) -> Vec<ArrayRef> {
    let count = rows.index.len();
    let any = memchr::memchr(OPEN, &rows.kind).is_some();
    let (opened, known) = if any { mark_open(&mut rows) } else { (BooleanBuffer::new_unset(count), None) };
    let [_, enter, exit, _, queue, event, object, bytes] = rows.words;
    let mut columns: Vec<ArrayRef> = vec![
        array::<UInt64Type>(rows.index),
        array::<UInt16Type>(rows.name),
        array::<UInt8Type>(rows.flags),
        Arc::new(BooleanArray::new(opened, None)),
        array::<UInt32Type>(rows.thread),
        array::<UInt64Type>(enter),
        Arc::new(UInt64Array::new(exit.into(), known.clone())),
        Arc::new(PrimitiveArray::<Int32Type>::new(rows.result.into(), known)),
        array::<UInt64Type>(queue),
        array::<UInt64Type>(event),
        array::<UInt64Type>(object),
        array::<UInt64Type>(bytes),
    ];
    columns.extend(lists.of.map(|list| list.finish(count)));
    columns
}

/// Which calls are open, and where exit and result are known.
fn mark_open(rows: &mut Rows) -> (BooleanBuffer, Option<NullBuffer>) {
    // Each bit by bit: the inverse of one would have bits set behind the last row.
    let opened = BooleanBuffer::collect_bool(rows.kind.len(), |row| rows.kind[row] == OPEN);
    let returned = BooleanBuffer::collect_bool(rows.kind.len(), |row| rows.kind[row] != OPEN);
    // What lies under a null is zero, so that both engines write the same bytes.
    for row in opened.set_indices() {
        rows.words[2][row] = 0;
        rows.result[row] = 0;
    }
    (opened, Some(NullBuffer::new(returned)))
}

/// What all tables take their columns from. Of `words`, 0 (the commit word) and 3 (thread and result) stay empty.
#[derive(Default)]
struct Rows {
    /// Where the rows of this block are in it: `here` places; and how many rows there were before it.
    places: Vec<u8>,
    here: usize,
    before: usize,
    index: Vec<u64>,
    kind: Vec<u8>,
    flags: Vec<u8>,
    name: Vec<u16>,
    thread: Vec<u32>,
    result: Vec<i32>,
    words: [Vec<u64>; 8],
}

impl Rows {
    /// Take the records of these kinds; `most` is how many there may be in all blocks together.
    fn take(&mut self, block: &Block, kinds: RangeInclusive<u8>, most: usize) {
        self.before = self.index.len();
        self.here = 0;
        self.places.resize(BLOCK, 0);
        // Without a branch for each record, so that several are looked at at once.
        if !block.kinds.iter().fold(false, |any, kind| any | kinds.contains(kind)) {
            return;
        }
        for (place, kind) in (0..=u8::MAX).zip(block.kinds) {
            self.places[self.here % BLOCK] = place;
            self.here += usize::from(kinds.contains(kind));
        }
        if self.index.is_empty() {
            self.reserve(most);
        }
        self.take_places(block);
    }

    /// Where the rows of this block are in it.
    fn places(&self) -> &[u8] {
        &self.places[..self.here]
    }

    fn reserve(&mut self, most: usize) {
        self.index.reserve(most);
        self.kind.reserve(most);
        self.flags.reserve(most);
        self.name.reserve(most);
        self.thread.reserve(most);
        self.result.reserve(most);
        for word in [1, 2, 4, 5, 6, 7] {
            self.words[word].reserve(most);
        }
    }

    /// Column by column: what each loop reads is in the cache, and what it writes is one run of memory.
    fn take_places(&mut self, block: &Block) {
        let places = &self.places[..self.here];
        let of =
            |take: fn(&Record) -> u64| places.iter().map(move |&place| take(&block.records[place as usize]));
        self.index.extend(places.iter().map(|&place| block.index(place as usize)));
        self.kind.extend(of(|r| r[0]).map(|word| word as u8));
        self.flags.extend(of(|r| r[0]).map(|word| (word >> 8) as u8));
        self.name.extend(of(|r| r[0]).map(|word| (word >> 16) as u16));
        self.thread.extend(of(|r| r[3]).map(|word| word as u32));
        self.result.extend(of(|r| r[3]).map(|word| (word >> 32) as i32));
        self.words[1].extend(of(|r| r[1]));
        self.words[2].extend(of(|r| r[2]));
        self.words[4].extend(of(|r| r[4]));
        self.words[5].extend(of(|r| r[5]));
        self.words[6].extend(of(|r| r[6]));
        self.words[7].extend(of(|r| r[7]));
    }
}

/// The words that calls continue with.
#[derive(Default)]
struct Lists {
    continuations: Continuations,
    /// By what the words are: 1 to 4.
    of: [List; 4],
}

/// The words of one sort, a list for each call. `offsets` are filled as far as the last call that has any.
#[derive(Default)]
struct List {
    offsets: Vec<i32>,
    values: Vec<u64>,
}

impl Lists {
    /// Take the words of a block whose calls are in `rows` already.
    fn take(&mut self, block: &Block, rows: &Rows) {
        self.continuations.each(block, |place| {
            let record = &block.records[place];
            let (what, count) = (record[1] & 0xffff, (record[1] >> 16 & 0xffff).min(WORDS_MOST));
            let Some(list) = what.checked_sub(1).and_then(|sort| self.of.get_mut(sort as usize)) else {
                return;
            };
            let calls = rows.before + rows.places().partition_point(|&call| (call as usize) < place);
            list.fill(calls);
            list.values.extend_from_slice(&record[2..2 + count as usize]);
        });
    }
}

impl List {
    /// Begin the lists of the first `calls` calls, as far as they are not begun.
    fn fill(&mut self, calls: usize) {
        if self.offsets.len() < calls {
            self.offsets.resize(calls, self.values.len() as i32);
        }
    }

    fn finish(mut self, calls: usize) -> ArrayRef {
        let offsets = if self.values.is_empty() {
            OffsetBuffer::new(zeros(calls + 1))
        } else {
            self.fill(calls);
            self.offsets.push(self.values.len() as i32);
            OffsetBuffer::new(ScalarBuffer::from(self.offsets))
        };
        let item = Arc::new(Field::new("item", DataType::UInt64, true));
        Arc::new(ListArray::new(item, offsets, array::<UInt64Type>(self.values), None))
    }
}

/// The offsets of lists that are all empty, which most are: one buffer for all of them.
fn zeros(count: usize) -> ScalarBuffer<i32> {
    static ZEROS: Mutex<Option<ScalarBuffer<i32>>> = Mutex::new(None);
    // What a panic elsewhere left is zeros all the same.
    let mut kept = ZEROS.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(zeros) if zeros.len() >= count => zeros.slice(0, count),
        _ => kept.insert(ScalarBuffer::from(vec![0; count])).clone(),
    }
}

fn array<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), None))
}
