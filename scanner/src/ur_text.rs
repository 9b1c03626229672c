//! Text logs of the Unified Runtime. What lines there are is said in `akvsite/scan/_ur_text.py`, which gives the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use memchr::{memchr, memmem};

use crate::ur_line::{arrow, duration_ns, function, marked, trim_end, trim_spaces, trim_start};

const MOST_LINE: usize = 1 << 18;
const MOST_OPEN: usize = 256;
const MOST_TEXT: usize = 32 << 20;
const READ: usize = 1 << 20;

/// Lines, and of these those that are no call: as `akvsite.scan._ur_text.TextCounts` has them.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub lines: u64,
    pub other: u64,
    pub too_long: u64,
    pub mixed: u64,
}

struct Begun {
    line: u64,
    name: Vec<u8>,
    id: Option<Vec<u8>>,
    params: Vec<u8>,
}

#[derive(Default)]
struct Rows {
    line: Int64Builder,
    name: StringBuilder,
    depth: Int32Builder,
    result: StringBuilder,
    duration_ns: Int64Builder,
    params: StringBuilder,
    returned: BooleanBuilder,
    count: usize,
    text: usize,
}

/// Where a log is being read.
#[derive(Default)]
pub struct Reader {
    pub counts: Counts,
    at: u64,
    /// Read and not taken yet: from `taken` on.
    held: Vec<u8>,
    taken: usize,
    /// Inside a line that is longer than is read.
    skipping: bool,
    ended: bool,
    open: Vec<Begun>,
    rows: Rows,
}

impl Reader {
    /// The next batch: about `most` rows, or fewer where their text is long. None at the end.
    pub fn next(&mut self, file: &File, most: usize) -> io::Result<Option<Vec<ArrayRef>>> {
        while !self.ended {
            while let Some(length) = memchr(b'\n', &self.held[self.taken..]) {
                let begin = self.taken;
                self.taken += length + 1;
                self.line(begin, begin + length);
                if self.rows.count >= most || self.rows.text >= MOST_TEXT {
                    return Ok(Some(self.rows.finish()));
                }
            }
            self.read(file)?;
            if self.ended {
                if self.skipping || !self.held.is_empty() {
                    self.line(0, self.held.len());
                }
                if self.rows.count >= most || self.rows.text >= MOST_TEXT {
                    return Ok(Some(self.rows.finish()));
                }
            }
        }
        for (depth, call) in std::mem::take(&mut self.open).into_iter().enumerate() {
            self.rows.not_returned(&call, depth);
        }
        Ok((self.rows.count > 0).then(|| self.rows.finish()))
    }

    /// Keep the begun line and read more behind it.
    fn read(&mut self, file: &File) -> io::Result<()> {
        self.held.drain(..self.taken);
        self.taken = 0;
        if self.skipping || self.held.len() > MOST_LINE {
            self.skipping = true;
            self.held.clear();
        }
        let before = self.held.len();
        self.held.resize(before + READ, 0);
        let got = loop {
            match file.read_at(&mut self.held[before..], self.at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.held.truncate(before + got);
        self.at += got as u64;
        self.ended = got == 0;
        Ok(())
    }

    fn line(&mut self, begin: usize, end: usize) {
        self.counts.lines += 1;
        if std::mem::take(&mut self.skipping) || end - begin > MOST_LINE {
            self.counts.too_long += 1;
            return;
        }
        // Taken out and put back, so that the line can be read while the rows are written.
        let held = std::mem::take(&mut self.held);
        if !self.call(trim_end(&held[begin..end])) {
            self.counts.other += 1;
        }
        self.held = held;
    }

    /// Whether the line is one of a call.
    fn call(&mut self, line: &[u8]) -> bool {
        if let Some((start, begins, name, rest)) = arrow(line) {
            match rest.first() {
                _ if begins && matches!(trim_start(rest).first(), None | Some(b'(')) => {
                    self.begin(name, None, b"")
                }
                Some(b'(') if !begins => self.end(name, None, &rest[1..]),
                _ => return false,
            }
            self.counts.mixed += u64::from(line[..start].iter().any(|&byte| byte != b' '));
            return true;
        }
        let line = trim_start(line);
        if let Some((begins, id, name, rest)) = marked(line) {
            if begins {
                let params = rest.strip_suffix(b";").unwrap_or(rest);
                self.begin(name, Some(id), params.strip_suffix(b")").unwrap_or(params));
            } else {
                self.end(name, Some(id), rest);
            }
            return true;
        }
        if let Some((name, [b'(', rest @ ..])) = function(line)
            && memmem::find(rest, b") -> ").is_some()
        {
            self.rows.returned(self.counts.lines, name, self.open.len(), rest);
            return true;
        }
        false
    }

    fn begin(&mut self, name: &[u8], id: Option<&[u8]>, params: &[u8]) {
        if self.open.len() == MOST_OPEN {
            let oldest = self.open.remove(0);
            self.rows.not_returned(&oldest, 0);
        }
        let (name, id, params) = (name.to_vec(), id.map(<[u8]>::to_vec), params.to_vec());
        self.open.push(Begun { line: self.counts.lines, name, id, params });
    }

    fn end(&mut self, name: &[u8], id: Option<&[u8]>, rest: &[u8]) {
        let begun = self.open.iter().rposition(|call| call.name == name && call.id.as_deref() == id);
        let depth = begun.unwrap_or(self.open.len());
        if begun.is_some() {
            self.open.remove(depth);
        }
        self.rows.returned(self.counts.lines, name, depth, rest);
    }
}

impl Rows {
    fn returned(&mut self, line: u64, name: &[u8], depth: usize, rest: &[u8]) {
        let Some(end) = memmem::rfind(rest, b") -> ") else {
            self.add(line, name, depth, None, None, rest, true);
            return;
        };
        let tail = &rest[end + 5..];
        let (result, after) = match memchr(b';', tail) {
            Some(at) => (&tail[..at], &tail[at + 1..]),
            None => (tail, &tail[..0]),
        };
        self.add(line, name, depth, Some(result), duration_ns(trim_spaces(after)), &rest[..end], true);
    }

    fn not_returned(&mut self, call: &Begun, depth: usize) {
        self.add(call.line, &call.name, depth, None, None, &call.params, false);
    }

    #[expect(clippy::too_many_arguments, reason = "one for each column")]
    fn add(
        &mut self,
        line: u64,
        name: &[u8],
        depth: usize,
        result: Option<&[u8]>,
        duration_ns: Option<i64>,
        params: &[u8],
        returned: bool,
    ) {
        self.line.append_value(line as i64);
        self.depth.append_value(depth as i32);
        self.duration_ns.append_option(duration_ns);
        self.returned.append_value(returned);
        self.text += append_escaped(&mut self.name, name);
        self.text += append_escaped(&mut self.params, params);
        match result {
            Some(result) => self.text += append_escaped(&mut self.result, result),
            None => self.result.append_null(),
        }
        self.count += 1;
    }

    fn finish(&mut self) -> Vec<ArrayRef> {
        (self.count, self.text) = (0, 0);
        vec![
            Arc::new(self.line.finish()),
            Arc::new(self.name.finish()),
            Arc::new(self.depth.finish()),
            Arc::new(self.result.finish()),
            Arc::new(self.duration_ns.finish()),
            Arc::new(self.params.finish()),
            Arc::new(self.returned.finish()),
        ]
    }
}

/// Append bytes as text: a byte that is not UTF-8 as `\xNN`, the backslash of a literal `\xNN` as `\x5c`. The length.
fn append_escaped(column: &mut StringBuilder, bytes: &[u8]) -> usize {
    if let Ok(text) = std::str::from_utf8(bytes)
        && memchr(b'\\', bytes).is_none()
    {
        column.append_value(text);
        return bytes.len();
    }
    let mut plain = Vec::with_capacity(bytes.len() + 16);
    for (place, &byte) in bytes.iter().enumerate() {
        let literal = matches!(bytes[place..], [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
        plain.extend_from_slice(if literal { b"\\x5c" } else { std::slice::from_ref(&byte) });
    }
    let mut text = String::with_capacity(plain.len());
    for chunk in plain.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    column.append_value(&text);
    text.len()
}
