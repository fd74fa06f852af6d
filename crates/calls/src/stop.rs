//! Streams that stop, as `lib/stop-stream.js` requests and reads them.

use std::sync::Arc;

#[cfg(feature = "napi")]
use napi_derive::napi;
use serde::Deserialize;
use tokenlane_core::{Finish, Released, StopOptions, StopReason, StopStream, Tokenizer};

use crate::error::Failure;
use crate::options::decode_options;

/// When a stream stops. `lib/stop-stream.js` has validated the values.
#[cfg_attr(feature = "napi", napi(object))]
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StopRequest {
    /// The strings that end the text.
    pub stop: Vec<String>,
    /// The ids that end it.
    pub stop_ids: Vec<u32>,
    /// The number of ids that ends it.
    pub max_tokens: Option<u32>,
    /// Whether the stop is a part of the text.
    pub include_stop: bool,
    /// Whether special tokens are left out.
    pub skip_special_tokens: bool,
}

/// The numbers of a result: of the ids that are released, and of those that were read; 0, or 1 for
/// a string, 2 for an id and 3 for the length; the index of the string or the id; the number of all
/// ids that were read; and [`StopStream::skippable`].
pub type Numbers = [u32; 6];

/// A stream that stops, and the text that it cut.
#[derive(Debug)]
pub struct Stopper {
    stream: StopStream<Arc<Tokenizer>>,
    cut: String,
}

impl Stopper {
    /// A stream that has received no ids yet.
    pub fn new(tokenizer: &Arc<Tokenizer>, request: StopRequest) -> Result<Self, Failure> {
        let options = StopOptions {
            stops: request.stop,
            stop_ids: request.stop_ids,
            max_ids: request.max_tokens.map(|count| count as usize),
            include_stop: request.include_stop,
            decode: decode_options(request.skip_special_tokens),
        };
        Ok(Self { stream: StopStream::new(Arc::clone(tokenizer), &options)?, cut: String::new() })
    }

    /// Reads ids after `count` others, of which some were skipped. Returns the released text.
    pub fn push(&mut self, ids: &[u32], count: u32) -> Result<(String, Numbers), Failure> {
        self.stream.skip_to(count as usize);
        let released = self.stream.push(ids)?;
        Ok(self.result(released))
    }

    /// Returns the rest of the text, and resets the stream.
    pub fn end(&mut self) -> Result<(String, Numbers), Failure> {
        let released = self.stream.end()?;
        Ok(self.result(released))
    }

    /// The text that the end of the stream cut.
    pub fn take_cut(&mut self) -> String {
        std::mem::take(&mut self.cut)
    }

    fn result(&mut self, Released { text, ids, read, finish }: Released) -> (String, Numbers) {
        let [reason, value, count] = finish.map_or([0; 3], |Finish { reason, count, cut }| {
            self.cut = cut;
            let (reason, value) = match reason {
                StopReason::Text(index) => (1, index as u32),
                StopReason::Id(id) => (2, id),
                StopReason::Length => (3, 0),
            };
            [reason, value, count as u32]
        });
        let skippable = self.stream.skippable().min(u32::MAX as usize);
        (text, [ids as u32, read as u32, reason, value, count, skippable as u32])
    }
}
