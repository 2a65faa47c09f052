//! Finds damage in the write-ahead log. After a crash `SQLite` reads the log up to the first frame whose checksum is wrong, and
//! silently drops the rest: right for a commit that was being written, and a loss if complete commits follow.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek as _};
use std::path::Path;

const FRAME_HEADER_BYTES: usize = 24;

/// The number of the first unreadable frame that a complete commit and a part of a later one follow, from 1. The file is only
/// read.
///
/// The disk has the frames of one commit before the next one begins, so only damage explains this. It holds for
/// [`Durability::Full`](crate::Durability::Full) only.
pub(crate) fn damaged_frame(log: &Path) -> io::Result<Option<u64>> {
    let mut file = match File::open(log) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let Some(header) = read_whole::<32>(&mut file)? else { return Ok(None) };
    let found = scan(&header, &mut BufReader::with_capacity(1 << 16, &file))?;
    // Another process may have started the log anew meanwhile.
    file.rewind()?;
    Ok(found.filter(|_| matches!(read_whole::<32>(&mut file), Ok(Some(now)) if now == header)))
}

/// See <https://www.sqlite.org/fileformat.html#the_write_ahead_log>.
fn scan(header: &[u8; 32], frames: &mut impl Read) -> io::Result<Option<u64>> {
    let big_endian = match number(header, 0) {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return Ok(None),
    };
    let page_bytes = number(header, 8) as usize;
    if !page_bytes.is_power_of_two() || !(512..=65_536).contains(&page_bytes) {
        return Ok(None);
    }
    let salts = header.get(16..24);
    let mut sum = Checksum { big_endian, sums: (0, 0) };
    sum.add(header.get(..24).unwrap_or_default());
    let mut page = vec![0; page_bytes];
    // The first unreadable frame, and whether a commit ends at or after it.
    let mut damaged: Option<(u64, bool)> = None;
    for frame in 1.. {
        let Some(head) = read_whole::<FRAME_HEADER_BYTES>(frames)? else { break };
        if !fills(frames, &mut page)? {
            break;
        }
        let belongs = head.get(8..16) == salts;
        match &mut damaged {
            None => {
                sum.add(head.get(..8).unwrap_or_default());
                sum.add(&page);
                if !belongs || sum.sums != (number(&head, 16), number(&head, 20)) {
                    damaged = Some((frame, belongs && number(&head, 4) != 0));
                }
            }
            Some((first, true)) if belongs => return Ok(Some(*first)),
            Some((_, commit_ended)) => *commit_ended |= belongs && number(&head, 4) != 0,
        }
    }
    Ok(None)
}

/// The checksum of the log, over pairs of words.
struct Checksum {
    big_endian: bool,
    sums: (u32, u32),
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let (words, _) = bytes.as_chunks::<4>();
        let word = |bytes: [u8; 4]| if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        let (mut first, mut second) = self.sums;
        let (pairs, _) = words.as_chunks::<2>();
        for [left, right] in pairs {
            first = first.wrapping_add(word(*left)).wrapping_add(second);
            second = second.wrapping_add(word(*right)).wrapping_add(first);
        }
        self.sums = (first, second);
    }
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// The next bytes; `None` if the file ends before.
fn read_whole<const N: usize>(file: &mut impl Read) -> io::Result<Option<[u8; N]>> {
    let mut bytes = [0; N];
    Ok(fills(file, &mut bytes)?.then_some(bytes))
}

fn fills(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
