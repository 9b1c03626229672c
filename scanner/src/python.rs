//! The module that Python sees.

use std::ffi::CStr;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{Field, Fields};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::columns::{self, Table};
use crate::piece::{Piece, Slots};
use crate::tally;
use crate::ur_text;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";

/// Columns under the names that the caller gave, handed over through the Arrow C data interface without a copy.
#[pyclass(frozen)]
struct Columns {
    fields: Fields,
    columns: Vec<ArrayRef>,
}

impl Columns {
    fn new(names: &[String], columns: Vec<ArrayRef>) -> PyResult<Columns> {
        if names.len() != columns.len() {
            return Err(PyValueError::new_err(format!("{} names for {} columns", names.len(), columns.len())));
        }
        let field = |(name, column): (&String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
        Ok(Columns { fields: names.iter().zip(&columns).map(field).collect(), columns })
    }
}

#[pymethods]
impl Columns {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // types are checked by the caller
        let rows = StructArray::new(self.fields.clone(), self.columns.clone(), None);
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&rows.to_data()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, array, ARRAY)?))
    }
}

/// Bytes before the records, capacity, and where the number of reserved records is (if it matters).
type AllSlots = (u64, u64, Option<u64>);
/// First index, how many records, and how many after them a call may continue in.
type Indexes = (u64, u64, u64);

/// The rows of each of `tables`, a name and the names of its columns, in a piece; None for one without rows.
///
/// `fd` stays the caller's. Raises OSError where the file cannot be read.
#[pyfunction]
fn batches(
    py: Python<'_>,
    fd: i32,
    slots: AllSlots,
    piece: Indexes,
    tables: Vec<(String, Vec<String>)>,
) -> PyResult<Vec<Option<Columns>>> {
    let (names, column_names): (Vec<_>, Vec<_>) = tables.into_iter().unzip();
    let tables = names
        .iter()
        .map(|name| Table::named(name).ok_or_else(|| PyValueError::new_err(format!("no table {name:?}"))))
        .collect::<PyResult<Vec<_>>>()?;
    let file = lent(fd);
    let found = py.detach(|| columns::columns(&file, all(slots), indexes(piece), &tables))?;
    let named = |(columns, names): (Vec<ArrayRef>, &Vec<String>)| {
        (!columns.is_empty()).then(|| Columns::new(names, columns)).transpose()
    };
    found.into_iter().zip(&column_names).map(named).collect()
}

type Counted = (Vec<(u8, u64)>, Vec<(u16, u64)>, u64, u64, Option<u64>, Option<u64>);

/// Counts of a piece: by kind, calls by name, continuations of calls, those of unknown sort, first and last time.
#[pyfunction]
fn count(py: Python<'_>, fd: i32, slots: AllSlots, piece: Indexes) -> PyResult<Counted> {
    let file = lent(fd);
    let found = py.detach(|| tally::tally(&file, all(slots), indexes(piece)))?;
    let kinds = (0..=255).zip(found.kinds).filter(|&(_, records)| records > 0).collect();
    let names = found.names.into_iter().collect();
    Ok((kinds, names, found.attached, found.unknown_words, found.first_ns, found.last_ns))
}

/// Reads a Unified Runtime text log, batch by batch.
#[pyclass]
#[derive(Default)]
struct UrText {
    reader: ur_text::Reader,
}

#[pymethods]
impl UrText {
    #[new]
    fn new() -> UrText {
        UrText::default()
    }

    /// The next batch, of about `rows` rows, its columns under `names`; None at the end.
    fn next(&mut self, py: Python<'_>, fd: i32, rows: usize, names: Vec<String>) -> PyResult<Option<Columns>> {
        let file = lent(fd);
        let found = py.detach(|| self.reader.next(&file, rows))?;
        found.map(|columns| Columns::new(&names, columns)).transpose()
    }

    /// Lines so far: all, no call, too long, behind other text.
    fn counts(&self) -> (u64, u64, u64, u64) {
        let counts = self.reader.counts;
        (counts.lines, counts.other, counts.too_long, counts.mixed)
    }
}

fn all((at, capacity, reserved_at): AllSlots) -> Slots {
    Slots { at, capacity, reserved_at }
}

fn indexes((first, count, ahead): Indexes) -> Piece {
    Piece { first, count, ahead }
}

/// A file that is the caller's and is not closed here.
fn lent(fd: i32) -> ManuallyDrop<File> {
    // SAFETY: the number is only read from, while the caller holds its file open; one that is closed gives EBADF.
    ManuallyDrop::new(unsafe { File::from_raw_fd(fd) })
}

#[pymodule]
fn akvscan(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Columns>()?;
    module.add_class::<UrText>()?;
    module.add_function(wrap_pyfunction!(batches, module)?)?;
    module.add_function(wrap_pyfunction!(count, module)?)
}
