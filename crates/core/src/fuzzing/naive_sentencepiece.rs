//! The models of SentencePiece by definition: every piece is compared with the text, and every pair
//! is tried again after each merge.

use crate::model::sentencepiece::{Method, PieceKind};

/// A model as lists.
#[derive(Debug)]
pub(super) struct Naive {
    pub(super) method: Method,
    /// Text, score and kind by id.
    pub(super) pieces: Vec<(String, f32, PieceKind)>,
}

impl Naive {
    fn unk_id(&self) -> u32 {
        self.pieces.iter().position(|piece| piece.2 == PieceKind::Unknown).expect("there is one") as u32
    }

    fn normal(&self, text: &str) -> Option<u32> {
        let is_it = |(piece, _, kind): &(String, f32, PieceKind)| {
            piece == text && matches!(kind, PieceKind::Normal | PieceKind::UserDefined | PieceKind::Unused)
        };
        self.pieces.iter().position(is_it).map(|id| id as u32)
    }

    fn id(&self, text: &str) -> u32 {
        let used = self.normal(text).filter(|&id| self.pieces[id as usize].2 != PieceKind::Unused);
        used.unwrap_or_else(|| self.unk_id())
    }

    /// The length of the user-defined symbol that a text starts with: the longest of the 64
    /// shortest.
    fn symbol(&self, text: &str) -> Option<usize> {
        let symbols =
            self.pieces.iter().filter(|piece| piece.2 == PieceKind::UserDefined && text.starts_with(&piece.0));
        let mut lengths: Vec<usize> = symbols.map(|piece| piece.0.len()).collect();
        lengths.sort_unstable();
        lengths.iter().take(64).next_back().copied()
    }

    /// The ids of a text, with their lengths in bytes.
    pub(super) fn tokens(&self, text: &str) -> Vec<(u32, usize)> {
        let cut = match self.method {
            Method::Unigram => self.best_path(text),
            Method::Bpe => self.merged(text),
            Method::Words => {
                let starts: Vec<usize> =
                    text.char_indices().filter(|&(at, c)| at == 0 || c == '▁').map(|(at, _)| at).collect();
                let ends = starts.iter().skip(1).copied().chain([text.len()]);
                starts.iter().zip(ends).map(|(&start, end)| (self.id(&text[start..end]), end - start)).collect()
            }
            Method::Characters => self.symbols(text).iter().map(|part| (self.id(part.0), part.0.len())).collect(),
        };
        let byte = |byte: u8| {
            self.pieces.iter().position(|piece| piece.0 == format!("<0x{byte:02X}>") && piece.2 == PieceKind::Byte)
        };
        let has_bytes = byte(0).is_some();
        let (mut out, mut start, mut after_unknown): (Vec<(u32, usize)>, usize, bool) = (vec![], 0, false);
        for (id, len) in cut {
            let is_unknown = id == self.unk_id();
            match out.last_mut() {
                _ if is_unknown && has_bytes => {
                    let bytes = text[start..start + len].bytes().enumerate();
                    out.extend(bytes.map(|(at, value)| {
                        (byte(value).expect("all are there") as u32, if at == 0 { len } else { 0 })
                    }));
                }
                Some(last) if is_unknown && after_unknown => last.1 += len,
                _ => out.push((id, len)),
            }
            after_unknown = is_unknown;
            start += len;
        }
        out
    }

    /// Symbols and characters, and whether each is a symbol.
    fn symbols<'t>(&self, mut text: &'t str) -> Vec<(&'t str, bool)> {
        let mut all = vec![];
        while let Some(first) = text.chars().next() {
            let symbol = self.symbol(text);
            let (part, rest) = text.split_at(symbol.unwrap_or(first.len_utf8()));
            all.push((part, symbol.is_some()));
            text = rest;
        }
        all
    }

    fn best_path(&self, text: &str) -> Vec<(u32, usize)> {
        let normal = || self.pieces.iter().filter(|piece| piece.2 == PieceKind::Normal).map(|piece| piece.1);
        let unknown = normal().fold(f32::MAX, f32::min) - 10.0;
        let mut paths: Vec<Option<(f32, usize, u32)>> = vec![None; text.len() + 1];
        for (start, first) in text.char_indices() {
            let mut so_far = paths[start].map_or(0.0, |path| path.0);
            if so_far.abs() > 100_000.0 {
                paths[start..].iter_mut().flatten().for_each(|path| path.0 -= so_far);
                so_far = 0.0;
            }
            let single = start + first.len_utf8();
            let mut offers: Vec<(usize, f32, u32)> = vec![];
            for end in (start + 1..=text.len()).filter(|&end| text.is_char_boundary(end)) {
                let Some(id) = self.normal(&text[start..end]) else { continue };
                match self.pieces[id as usize] {
                    (_, _, PieceKind::Unused) => {}
                    (_, _, PieceKind::UserDefined) => {
                        offers.push((end, ((end - start - 1) as f64 * 0.1) as f32 + so_far, id));
                    }
                    (_, score, _) => offers.push((end, score + so_far, id)),
                }
            }
            if offers.iter().all(|offer| offer.0 != single) {
                offers.push((single, unknown + so_far, self.unk_id()));
            }
            for (end, score, id) in offers {
                if paths[end].is_none_or(|path| score > path.0) {
                    paths[end] = Some((score, start, id));
                }
            }
        }
        let (mut pieces, mut end) = (vec![], text.len());
        while end > 0 {
            let (_, start, id) = paths[end].expect("every character is a piece or unknown");
            pieces.push((id, end - start));
            end = start;
        }
        pieces.reverse();
        pieces
    }

    fn merged(&self, text: &str) -> Vec<(u32, usize)> {
        let mut parts: Vec<(String, bool)> =
            self.symbols(text).iter().map(|&(part, is_symbol)| (part.to_owned(), is_symbol)).collect();
        let mut sources: Vec<(String, [String; 2])> = vec![];
        let mut seen: Vec<String> = vec![];
        loop {
            let mut best: Option<(f32, usize)> = None;
            for at in 1..parts.len() {
                let [(a, a_fixed), (b, b_fixed)] = [&parts[at - 1], &parts[at]];
                let Some(id) = self.normal(&format!("{a}{b}")).filter(|_| !a_fixed && !b_fixed) else { continue };
                let score = self.pieces[id as usize].1;
                if best.is_none_or(|best| score.total_cmp(&best.0).is_gt()) {
                    best = Some((score, at));
                }
            }
            self.record_unused(&parts, &mut seen, &mut sources);
            let Some((_, at)) = best else { break };
            let (right, _) = parts.remove(at);
            parts[at - 1].0.push_str(&right);
        }
        let mut out = vec![];
        for (part, _) in parts {
            self.push_unmerged(&part, &sources, &mut out);
        }
        out
    }

    /// Records the pairs of neighbours that could form an unused piece, when such a pair first
    /// exists: initially all pairs from left to right, later the pairs beside the last merge.
    fn record_unused(
        &self,
        parts: &[(String, bool)],
        seen: &mut Vec<String>,
        sources: &mut Vec<(String, [String; 2])>,
    ) {
        let mut start = 0;
        let mut now = vec![];
        for at in 1..parts.len() {
            let [(a, a_fixed), (b, b_fixed)] = [&parts[at - 1], &parts[at]];
            let pair = format!("{start} {a} {b}");
            start += a.len();
            let piece = format!("{a}{b}");
            let is_unused = self.normal(&piece).is_some_and(|id| self.pieces[id as usize].2 == PieceKind::Unused);
            if !a_fixed && !b_fixed && is_unused && !seen.contains(&pair) {
                sources.push((piece, [a.clone(), b.clone()]));
            }
            now.push(pair);
        }
        seen.extend(now);
    }

    fn push_unmerged(&self, piece: &str, sources: &[(String, [String; 2])], out: &mut Vec<(u32, usize)>) {
        match sources.iter().rev().find(|source| source.0 == piece) {
            Some((_, parts)) => parts.iter().for_each(|part| self.push_unmerged(part, sources, out)),
            None => out.push((self.id(piece), piece.len())),
        }
    }
}
