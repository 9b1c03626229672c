//! Text logs of the Unified Runtime. What lines there are is said in `akvsite/scan/_ur_text.py`, which gives the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{BooleanBuilder, Int32Builder, Int64Builder, StringBuilder};
use memchr::{memchr, memchr_iter, memmem};

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

/// The first arrow before the name of a call: where it is, whether the call begins, the name and what follows it.
fn arrow(line: &[u8]) -> Option<(usize, bool, &[u8], &[u8])> {
    memchr_iter(b'-', line).find_map(|dash| {
        let (start, begins) = match &line[dash..] {
            [b'-', b'-', b'-', b'>', b' ', ..] => (dash, true),
            [b'-', b'-', b'-', b' ', ..] if dash > 0 && line[dash - 1] == b'<' => (dash - 1, false),
            _ => return None,
        };
        if start > 0 && line[start - 1] != b' ' {
            return None;
        }
        function(&line[start + 5..]).map(|(name, rest)| (start, begins, name, rest))
    })
}

/// Whether it begins, id, name and what follows.
type Marked<'a> = (bool, &'a [u8], &'a [u8], &'a [u8]);

/// `begin(id) - name(` or `end(id) - name(`.
fn marked(line: &[u8]) -> Option<Marked<'_>> {
    let (begins, rest) = match line.strip_prefix(b"begin(") {
        Some(rest) => (true, rest),
        None => (false, line.strip_prefix(b"end(")?),
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=20).contains(&digits) {
        return None;
    }
    let (name, rest_of) = function(rest[digits..].strip_prefix(b") - ")?)?;
    Some((begins, &rest[..digits], name, rest_of.strip_prefix(b"(")?))
}

/// The name of a Unified Runtime function at the start, and what follows it.
fn function(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if !matches!(text, [b'u', b'r', b'A'..=b'Z', ..]) {
        return None;
    }
    let end = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    Some(text.split_at(end))
}

/// `(1.5us)` in whole nanoseconds, halves upwards; None where it is no duration or beyond 64 bits.
fn duration_ns(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b"(")?.strip_suffix(b")")?;
    let (whole, mut rest) = digits(text, 18)?;
    let mut fraction: &[u8] = b"";
    if let Some(after) = rest.strip_prefix(b".") {
        (fraction, rest) = digits(after, 18)?;
    }
    let mut power = -(fraction.len() as i32);
    if let Some(after) = rest.strip_prefix(b"e") {
        let unsigned = after.strip_prefix(b"+").or(after.strip_prefix(b"-")).unwrap_or(after);
        let (exponent, after_it) = digits(unsigned, 3)?;
        power += if after[0] == b'-' { -(number(exponent) as i32) } else { number(exponent) as i32 };
        rest = after_it;
    }
    power += match rest {
        b"ns" => 0,
        b"us" => 3,
        b"ms" => 6,
        b"s" => 9,
        _ => return None,
    };
    let digits = number(whole) * 10u128.pow(fraction.len() as u32) + number(fraction);
    let ns = match power {
        _ if digits == 0 => 0,
        0..=38 => digits.checked_mul(10u128.pow(power as u32))?,
        39.. => return None,
        -37..=-1 => {
            let unit = 10u128.pow(power.unsigned_abs());
            (2 * digits + unit) / (2 * unit)
        }
        _ => 0, // at most 36 digits: less than half of a nanosecond
    };
    i64::try_from(ns).ok()
}

/// One to `most` digits at the start, and what follows them; None where there are none or more.
fn digits(text: &[u8], most: usize) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=most).contains(&count).then(|| text.split_at(count))
}

fn number(digits: &[u8]) -> u128 {
    digits.iter().fold(0, |value, digit| 10 * value + u128::from(digit - b'0'))
}

fn trim_end(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = line {
        line = rest;
    }
    line
}

fn trim_start(mut line: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = line {
        line = rest;
    }
    line
}

fn trim_spaces(mut text: &[u8]) -> &[u8] {
    text = trim_start(text);
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}
