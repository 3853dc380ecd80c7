//! Parts of an entry in one piece of memory, each after its length.

/// Writes a number below 4,294,967,295, as every length here is.
pub(super) fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

pub(super) fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    push_number(bytes, part.len());
    bytes.extend_from_slice(part);
}

pub(super) fn push_option(bytes: &mut Vec<u8>, part: Option<&[u8]>) {
    bytes.push(u8::from(part.is_some()));
    if let Some(part) = part {
        push(bytes, part);
    }
}

pub(super) fn pop_number(bytes: &mut &[u8]) -> usize {
    let (number, rest) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
    *bytes = rest;
    usize::try_from(u32::from_le_bytes(*number)).unwrap_or(usize::MAX)
}

pub(super) fn pop<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = pop_number(bytes).min(bytes.len());
    let (part, rest) = bytes.split_at(length);
    *bytes = rest;
    part
}

pub(super) fn pop_option<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (&is_there, rest) = bytes.split_first()?;
    *bytes = rest;
    (is_there == 1).then(|| pop(bytes))
}
