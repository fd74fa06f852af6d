use super::*;

/// A single test, because all assertions concern one process-wide counter.
#[test]
fn external_buffers_are_counted_and_capped() {
    let pooled = |words: usize| {
        let mut slab = Slab::with_capacity(words);
        slab.resize(words, 7);
        U32Values::Slab(slab)
    };
    assert!(
        ExternalBuffer::take(U32Values::try_from(vec![7; 4]).expect("there is memory")).is_err(),
        "few words are copied"
    );
    assert!(
        ExternalBuffer::take(U32Values::Vec(vec![7; 1 << 20])).is_err(),
        "words that are not the pool's are copied"
    );
    let half = max_held_by_v8() / size_of::<u32>() / 2;
    let first = ExternalBuffer::take(pooled(half)).expect("half of what V8 may hold");
    let second = ExternalBuffer::take(pooled(half)).expect("the other half");
    assert!(ExternalBuffer::take(pooled(1 << 20)).is_err(), "nothing is left");
    drop(first);
    let third = ExternalBuffer::take(pooled(1 << 20)).expect("there is memory again");
    assert_eq!(second.into_values().as_ref().len() + third.into_values().as_ref().len(), half + (1 << 20));
    assert_eq!(HELD_BY_V8.load(Ordering::Relaxed), 0);
}

#[test]
fn two_collections_that_do_not_help_are_followed_by_a_full_one_and_then_by_patience() {
    let (now, mut pressure) = (Instant::now(), Pressure::default());
    assert_eq!(pressure.next(false, now, || 0), None, "nothing was received");
    let mut external = 0;
    let mut hand = |pressure: &mut Pressure, bytes: usize, kept: bool| {
        pressure.receive(bytes);
        external += bytes as i64;
        let how = pressure.next(false, now, || external);
        external -= if kept { 0 } else { bytes as i64 };
        how
    };
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, false), Some(Collection::Quick));
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, true), Some(Collection::Quick));
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, true), Some(Collection::Quick), "nothing could be freed");
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, true), Some(Collection::Quick), "one did not help");
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, true), Some(Collection::Full), "two did not help");
    assert_eq!(hand(&mut pressure, MIN_RECEIVED, true), Some(Collection::Quick));
    assert_eq!(pressure.threshold, 2 * MIN_RECEIVED, "the results are kept");
    // No collection has taken any time yet, so half of the threshold is sufficient.
    assert_eq!(hand(&mut pressure, MIN_RECEIVED / 2, true), None);
    assert_eq!(
        hand(&mut pressure, MIN_RECEIVED / 2, true),
        Some(Collection::Quick),
        "half of the threshold was received"
    );
}

/// Simulates results that are each dropped after the next one arrived.
fn receive_dropped_results(pressure: &mut Pressure, others: i64, now: Instant) {
    let result = MIN_RECEIVED as i64;
    for round in 0..20 {
        pressure.receive(MIN_RECEIVED);
        let external = others + if round == 0 { 1 } else { 2 } * result;
        assert_eq!(pressure.next(false, now, || external), Some(Collection::Quick), "{round}");
    }
}

#[test]
fn a_collection_is_not_blamed_for_the_latest_result_nor_for_what_v8_freed_itself() {
    let (now, mut pressure) = (Instant::now(), Pressure::default());
    let (result, others) = (MIN_RECEIVED as i64, 5 << 20);
    receive_dropped_results(&mut pressure, others, now);
    // V8 collects by itself: only the result that is delivered at that moment remains, and the
    // collection finds nothing to free.
    for results in [1, 2, 2, 1, 2, 1, 2, 2] {
        pressure.receive(MIN_RECEIVED);
        let how = pressure.next(false, now, || others + results * result);
        assert_eq!((how, pressure.failed_quick), (Some(Collection::Quick), 0), "{results}");
    }
    assert_eq!(pressure.threshold, MIN_RECEIVED);
}

#[test]
fn quick_collections_need_not_free_what_a_full_one_promoted() {
    let (now, mut pressure) = (Instant::now(), Pressure::default());
    let result = MIN_RECEIVED as i64;
    let mut next = |results: i64| {
        pressure.receive(MIN_RECEIVED);
        (pressure.next(false, now, || results * result), pressure.failed_quick)
    };
    assert_eq!([1, 2, 3].map(&mut next).map(|(_, failed_quick)| failed_quick), [0, 0, 1]);
    assert_eq!(next(4), (Some(Collection::Full), 0), "two freed nothing");
    // The full collection frees all results but the latest and promotes that one. It then
    // stays, and this does not count as a failure of quick collections.
    assert_eq!([2, 3, 3, 3].map(next), [(Some(Collection::Quick), 0); 4]);
    assert_eq!(pressure.threshold, MIN_RECEIVED);
}

#[test]
fn collections_rest_and_the_pool_may_ask() {
    let (now, mut pressure) = (Instant::now(), Pressure::default());
    assert_eq!(pressure.next(true, now, || 0), None, "nothing was received");
    pressure.receive(MIN_RECEIVED_AT_CAP);
    assert_eq!(pressure.next(false, now, || 0), None, "too little");
    assert_eq!(pressure.next(true, now, || 0), Some(Collection::Quick));
    pressure.took(Collection::Quick, Duration::from_millis(3), now);
    pressure.receive(MAX_RECEIVED);
    assert_eq!(pressure.next(true, now + Duration::from_millis(29), || 0), None);
    assert!(pressure.next(false, now + Duration::from_millis(30), || 0).is_some());
    // The shorter of the last two durations counts.
    pressure.took(Collection::Quick, Duration::from_millis(300), now);
    pressure.receive(pressure.threshold / 2);
    assert_eq!(pressure.next(false, now + Duration::from_millis(59), || 0), None);
    assert!(pressure.next(false, now + Duration::from_millis(60), || 0).is_some(), "half is worth a quick one");
}
