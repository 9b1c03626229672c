//! The grammar of a line of a Unified Runtime text log.

use memchr::memchr_iter;

/// The first arrow before the name of a call: where it is, whether the call begins, the name and what follows it.
pub fn arrow(line: &[u8]) -> Option<(usize, bool, &[u8], &[u8])> {
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
pub type Marked<'a> = (bool, &'a [u8], &'a [u8], &'a [u8]);

/// `begin(id) - name(` or `end(id) - name(`.
pub fn marked(line: &[u8]) -> Option<Marked<'_>> {
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
pub fn function(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if !matches!(text, [b'u', b'r', b'A'..=b'Z', ..]) {
        return None;
    }
    let end = text.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    Some(text.split_at(end))
}

/// `(1.5us)` in whole nanoseconds, halves upwards; None where it is no duration or beyond 64 bits.
pub fn duration_ns(text: &[u8]) -> Option<i64> {
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

pub fn trim_end(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = line {
        line = rest;
    }
    line
}

pub fn trim_start(mut line: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = line {
        line = rest;
    }
    line
}

pub fn trim_spaces(mut text: &[u8]) -> &[u8] {
    text = trim_start(text);
    while let [rest @ .., b' '] = text {
        text = rest;
    }
    text
}
