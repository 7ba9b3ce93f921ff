import type { RunEvent } from "@tandem/protocol";

export interface Stage {
  name: string;
  done: number;
  total: number | null;
  item: string | null;
  /** Null while the stage is running. */
  counts: Record<string, number> | null;
}

interface Unit {
  name: string;
  items: string[];
  step: number;
  budget: number | null;
  tools: string[];
  outcome: string | null;
  message: string | null;
}

export interface JobProgress {
  stages: Stage[];
  units: Unit[];
  skipped: { stage: string; item: string; message: string }[];
  waiting: { reason: string; until: string | null } | null;
  spent: { requests: number; cached: number; usd: number | null } | null;
  proposals: { proposal: string; accepted: number; open: number }[];
  isResumed: boolean;
  end: { state: string; message: string | null } | null;
}

const NOTHING: JobProgress = {
  stages: [],
  units: [],
  skipped: [],
  waiting: null,
  spent: null,
  proposals: [],
  isResumed: false,
  end: null,
};

/** Derives the state of a job from its events. A resumed run repeats its stages. */
export const jobProgress = (events: readonly RunEvent[]): JobProgress => events.reduce(apply, NOTHING);

function apply(progress: JobProgress, event: RunEvent): JobProgress {
  const moving = { ...progress, waiting: null };
  switch (event.type) {
    case "started":
      return { ...NOTHING, isResumed: event.resumed, spent: progress.spent, proposals: progress.proposals };
    case "stage_started":
      return stage(moving, event.stage, { done: 0, total: event.total, item: null, counts: null });
    case "stage_progress":
      return stage(moving, event.stage, { done: event.done, total: event.total, item: event.item });
    case "stage_finished":
      return stage(moving, event.stage, { item: null, counts: event.counts });
    case "skipped":
      return { ...moving, skipped: [...progress.skipped, event] };
    case "unit_started":
      return unit(moving, event.unit, { items: event.items });
    case "unit_step":
      return unit(moving, event.unit, { step: event.step, budget: event.budget, tools: event.tools });
    case "unit_finished":
      return unit(moving, event.unit, { outcome: event.outcome, message: event.message });
    case "waiting":
      return { ...progress, waiting: event };
    case "spent":
      return { ...progress, spent: event };
    case "proposed":
      return { ...moving, proposals: [...progress.proposals, event] };
    case "ended":
      return { ...moving, end: event };
    default:
      return progress;
  }
}

function stage(progress: JobProgress, name: string, change: Partial<Stage>): JobProgress {
  const before = progress.stages.find((each) => each.name === name);
  const next = { ...(before ?? { name, done: 0, total: null, item: null, counts: null }), ...change };
  return {
    ...progress,
    stages: before ? progress.stages.map((each) => (each === before ? next : each)) : [...progress.stages, next],
  };
}

function unit(progress: JobProgress, name: string, change: Partial<Unit>): JobProgress {
  const before = progress.units.find((each) => each.name === name);
  const fresh = { name, items: [], step: 0, budget: null, tools: [], outcome: null, message: null };
  const next = { ...(before ?? fresh), ...change };
  return {
    ...progress,
    units: before ? progress.units.map((each) => (each === before ? next : each)) : [...progress.units, next],
  };
}
