//! Runs work on the libuv threadpool.

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, Task};

use crate::error::Failure;
use crate::guard::{EntryPoint, Held, caught};
use crate::node_api;
use crate::queue::Permit;

/// Work for the threadpool, and the conversion of its result to JS.
pub trait Work: Send {
    /// The result on the worker thread.
    type Output: Send + 'static;
    /// The result in JS, converted on the JS thread.
    type Js: From<Self::Output> + ToNapiValue + TypeName;

    /// Does the work, on a thread of the threadpool.
    fn run(&mut self) -> Result<Self::Output, Failure>;
}

/// Work together with its permit to run.
pub struct Job<W> {
    work: Held<W>,
    permit: Option<Permit>,
}

impl<W: Work> Job<W> {
    /// Creates a job that holds the permit until the work is done.
    pub fn new(work: W, permit: Option<Permit>) -> Self {
        Self { work: Held::new(work), permit }
    }
}

impl<W: Work> Task for Job<W> {
    // A failure is passed as a value, because errors of napi cannot carry an error code of
    // tokenlane.
    type Output = Result<W::Output, Failure>;
    type JsValue = W::Js;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        Ok(caught(EntryPoint::Work, || {
            // Released here and not on the JS thread, which may be busy or may have ended.
            let _permit = self.permit.take();
            self.work.run()
        }))
    }

    fn resolve(&mut self, env: Env, output: Self::Output) -> napi::Result<Self::JsValue> {
        node_api::converted(env.raw(), || output.map(W::Js::from).map_err(|failure| node_api::js_error(env, &failure)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Panics;

    impl Work for Panics {
        type Output = u32;
        type Js = u32;

        fn run(&mut self) -> Result<u32, Failure> {
            panic!("on the threadpool")
        }
    }

    #[test]
    fn a_panic_on_the_threadpool_becomes_a_failure() {
        let outcome = Job::new(Panics, None).compute().expect("napi sees no error");
        assert_eq!(outcome.expect_err("it panicked").code, "ERR_TOKENLANE_PANIC");
    }
}
