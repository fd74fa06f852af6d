//! Trains once: reads `{ base, files, trainer }` as JSON from the standard input and writes a
//! tokenizer.json. Each line of the files is a text, with its line end.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Deserialize;
use tokenlane_train::{Base, Trainer, WordCounter};

#[derive(Deserialize)]
struct Input {
    base: String,
    files: Vec<String>,
    trainer: Trainer,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let Input { base, files, trainer } = serde_json::from_str(&input)?;
    let base = Arc::new(Base::from_json(base.as_bytes())?);
    let mut counter = WordCounter::new(Arc::clone(&base));
    for file in files {
        counter.add(std::fs::read_to_string(file)?.split_inclusive('\n'))?;
    }
    let words = counter.finish(&mut |_| ControlFlow::Continue(()))?;
    let file = trainer.train(&base, &words, &mut |_| ControlFlow::Continue(()))?;
    std::io::stdout().write_all(file.as_bytes())?;
    Ok(())
}
