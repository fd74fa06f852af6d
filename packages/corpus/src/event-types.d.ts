// The events of corpus jobs, a part of index.d.ts.

import type { CorpusPlan, CorpusProgress, CorpusResult, ShardSummary } from './result-types.js'

/** The events that `onEvent` of the options receives. */
export type CorpusEvent =
  | PlanningEvent
  | UnreadableEvent
  | PlanEvent
  | QueuedEvent
  | ShardEvent
  | FailedEvent
  | ProgressEvent
  | DoneEvent
  | RefusedEvent
  | StalledEvent
  | WaitingEvent
  | NoteEvent
  | MetricsEvent

/** A machine handed a shard back, because only another one may be able to process it. */
export interface RefusedEvent {
  /** The kind of event. */
  event: 'refused'
  /** The machine. Its worker pauses. */
  host: string
  /** The code of the error. */
  code?: string
  /** The reason. */
  message: string
}

/** The worker of a shard is gone. Another one takes the shard. */
export interface StalledEvent {
  /** The kind of event. */
  event: 'stalled'
  /** The number of the shard in the plan. */
  shard: number
}

/** With a queue: no shard is in progress, or Redis does not answer. Repeated every 30 seconds. */
export interface WaitingEvent {
  /** The kind of event. */
  event: 'waiting'
  /** Seconds since the last shard was in progress, or since the last answer. */
  seconds: number
  /** The reason, as far as it is known. */
  message: string
}

/**
 * Something that may surprise, said once: lines of an input whose name is not that of JSON are
 * documents.
 */
export interface NoteEvent {
  /** The kind of event. */
  event: 'note'
  /** What it is. */
  message: string
}

/** Metrics are served. */
export interface MetricsEvent {
  /** The kind of event. */
  event: 'metrics'
  /** Where, with the port that was chosen if none was named. */
  url: string
}

/** The plan is being made. */
export interface PlanningEvent {
  /** The kind of event. */
  event: 'planning'
  /** Shards so far. */
  shards: number
  /** Ranges of inputs so far. */
  parts: number
  /** Bytes of inputs so far. */
  bytes: number
}

/** With `onError: 'skip'`, an input that cannot be read is left out. */
export interface UnreadableEvent {
  /** The kind of event. */
  event: 'unreadable'
  /** The code of the error. */
  code: string
  /** Its message, which names the input. */
  message: string
}

/** The plan is made. */
export interface PlanEvent extends CorpusPlan {
  /** The kind of event. */
  event: 'plan'
}

/** Shards were put into the queue. */
export interface QueuedEvent {
  /** The kind of event. */
  event: 'queued'
  /** Shards so far. */
  shards: number
  /** All shards of the job. */
  allShards: number
}

/** A shard in the queue failed for the last time. */
export interface FailedEvent {
  /** The kind of event. */
  event: 'failed'
  /** The number of the shard in the plan. */
  shard: number
  /** The error. */
  message: string
}

/** A shard is done. */
export interface ShardEvent extends ShardSummary {
  /** The kind of event. */
  event: 'shard'
}

/** The progress of the job. There are at most five of these events per second. */
export interface ProgressEvent extends CorpusProgress {
  /** The kind of event. */
  event: 'progress'
}

/** The job is done. */
export interface DoneEvent extends CorpusResult {
  /** The kind of event. */
  event: 'done'
}
