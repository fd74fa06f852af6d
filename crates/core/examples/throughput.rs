//! Encoding throughput on documents of about 6.5 KB, as one line of JSON.
//!
//! usage: throughput TOKENIZER_JSON CORPUS_TXT THREADS MODE [SECONDS]
//!
//! MODE is `cold` (the first pass, after one short text), `fresh` (warmed on the first half of the
//! corpus, timed on the second) or `warm` (the median of five passes over the same text); with
//! `+offsets` after it, the offsets are computed too, in code points. With SECONDS, `cold` and
//! `fresh` are repeated, each time with a new tokenizer, until the timed passes took that long
//! together, and the result is the median of them. `fnv` is FNV-1a over the ids of the first timed
//! pass; equal values show that two programs did the same work. `faults_per_mib` is the number of
//! minor page faults in the timed passes, for each MiB of text.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use tokenlane_core::batch::{Batch, RunOptions, encode_batch};
use tokenlane_core::{Columns, EncodeOptions, OffsetUnit, SpecialTokens, Text, Tokenizer};

#[path = "shared/allocator.rs"]
mod allocator;

const DOCUMENT_BYTES: usize = 6500;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ([tokenizer, corpus, threads, mode] | [tokenizer, corpus, threads, mode, _]) = &args[..] else {
        return Err("usage: throughput TOKENIZER_JSON CORPUS_TXT THREADS MODE [SECONDS]".into());
    };
    let seconds: f64 = args.get(4).map_or(Ok(0.0), |seconds| seconds.parse())?;
    let threads: usize = threads.parse()?;
    let corpus = std::fs::read_to_string(corpus)?;
    let documents = documents(&corpus);
    let half = documents.len() / 2;

    let file = std::fs::read(tokenizer)?;
    let without_offsets = mode.strip_suffix("+offsets");
    let options = EncodeOptions {
        add_special_tokens: false,
        special_tokens: SpecialTokens::Parse,
        columns: without_offsets.map_or(Columns::NONE, |_| Columns::OFFSETS),
        offset_unit: OffsetUnit::CodePoint,
        ..EncodeOptions::default()
    };
    let run = RunOptions { threads: Some(threads), ..RunOptions::default() };
    let (warm_up, timed, passes): (&[Text<'_>], &[Text<'_>], usize) = match without_offsets.unwrap_or(mode) {
        "cold" => (&[], &documents, 1),
        "fresh" => (&documents[..half], &documents[half..], 1),
        "warm" => (&documents, &documents, 5),
        other => return Err(format!("there is no mode {other}: cold, fresh, warm").into()),
    };

    let mib = timed.iter().map(bytes).sum::<usize>() as f64 / f64::from(1 << 20);
    let (mut walls, mut cpus, mut first, mut load_ms, mut touched) = (vec![], vec![], None, None, 0);
    while walls.is_empty() || walls.iter().sum::<f64>() < seconds {
        let started = Instant::now();
        let tokenizer = Tokenizer::from_bytes(&file)?;
        load_ms.get_or_insert(started.elapsed().as_secs_f64() * 1e3);
        let encode = |texts: &[Text<'_>]| encode_batch(&tokenizer, texts, &options, &run);
        black_box(encode(&["A short text, so that nothing is built lazily.".into()])?);
        black_box(encode(warm_up)?);
        for _ in 0..passes {
            let (cpu, faults, wall) = (cpu_seconds()?, faults()?, Instant::now());
            let batch = encode(timed)?;
            walls.push(wall.elapsed().as_secs_f64());
            cpus.push(cpu_seconds()? - cpu);
            touched += self::faults()? - faults;
            first.get_or_insert(batch);
        }
    }
    let (tokens, fnv) = first.as_ref().map_or((0, 0), fingerprint);
    let faults_per_mib = touched as f64 / (mib * walls.len() as f64);
    let load_ms = load_ms.unwrap_or(0.0);
    println!(
        r#"{{"peer":"tokenlane","mode":"{mode}","threads":{threads},"mib_per_s":{:.1},"mib_per_cpu_s":{:.1},"tokens":{tokens},"fnv":"{fnv:016x}","load_ms":{load_ms:.1},"faults_per_mib":{faults_per_mib:.0},"peak_mib":{:.0}}}"#,
        mib / median(&mut walls),
        mib / median(&mut cpus),
        peak_mib()?,
    );
    Ok(())
}

/// Documents of at least [`DOCUMENT_BYTES`], cut after a line.
fn documents(corpus: &str) -> Vec<Text<'_>> {
    let (mut documents, mut start, mut end) = (vec![], 0, 0);
    for line in corpus.split_inclusive('\n') {
        end += line.len();
        if end - start >= DOCUMENT_BYTES {
            documents.push(Text::Utf8(&corpus[start..end]));
            start = end;
        }
    }
    if start < end {
        documents.push(Text::Utf8(&corpus[start..end]));
    }
    documents
}

fn bytes(text: &Text<'_>) -> usize {
    match text {
        Text::Utf8(text) => text.len(),
        _ => 0,
    }
}

fn fingerprint(batch: &Batch) -> (usize, u64) {
    let step = |hash: u64, &id: &u32| (hash ^ u64::from(id)).wrapping_mul(0x0100_0000_01b3);
    (batch.ids().len(), batch.ids().iter().fold(0xcbf2_9ce4_8422_2325, step))
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

#[cfg(unix)]
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    Err("processor time is only read on unix".into())
}

/// The number of minor page faults of this process; 0 if the system does not report it.
fn faults() -> Result<u64, Box<dyn Error>> {
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return Ok(0) };
    // The second field, in parentheses, may contain spaces; the number is the tenth.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    Ok(rest.split_whitespace().nth(7).unwrap_or("0").parse()?)
}

/// The peak of resident memory in MiB; 0 if the system does not report it.
fn peak_mib() -> Result<f64, Box<dyn Error>> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return Ok(0.0) };
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    Ok(line.split_whitespace().nth(1).unwrap_or("0").parse::<f64>()? / 1024.0)
}
