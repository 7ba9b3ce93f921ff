import type { RunEvent } from "./job-api.ts";

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

export interface JobStory {
  stages: Stage[];
  units: Unit[];
  skipped: { stage: string; item: string; message: string }[];
  waiting: { reason: string; until: string | null } | null;
  spent: { requests: number; cached: number; usd: number | null } | null;
  proposals: { proposal: string; accepted: number; open: number }[];
  isResumed: boolean;
  end: { state: string; message: string | null } | null;
}

const NOTHING: JobStory = {
  ...{ stages: [], units: [], skipped: [], waiting: null, spent: null, proposals: [], isResumed: false, end: null },
};

/** Derives the state of a job from its events. A resumed run repeats its stages. */
export const foldJob = (events: readonly RunEvent[]): JobStory => events.reduce(apply, NOTHING);

function apply(story: JobStory, event: RunEvent): JobStory {
  const moving = { ...story, waiting: null };
  switch (event.type) {
    case "started":
      return { ...NOTHING, isResumed: event.resumed, spent: story.spent, proposals: story.proposals };
    case "stage_started":
      return stage(moving, event.stage, { done: 0, total: event.total, item: null, counts: null });
    case "stage_progress":
      return stage(moving, event.stage, { done: event.done, total: event.total, item: event.item });
    case "stage_finished":
      return stage(moving, event.stage, { item: null, counts: event.counts });
    case "skipped":
      return { ...moving, skipped: [...story.skipped, event] };
    case "unit_started":
      return unit(moving, event.unit, { items: event.items });
    case "unit_step":
      return unit(moving, event.unit, { step: event.step, budget: event.budget, tools: event.tools });
    case "unit_finished":
      return unit(moving, event.unit, { outcome: event.outcome, message: event.message });
    case "waiting":
      return { ...story, waiting: event };
    case "spent":
      return { ...story, spent: event };
    case "proposed":
      return { ...moving, proposals: [...story.proposals, event] };
    case "ended":
      return { ...moving, end: event };
    default:
      return story;
  }
}

function stage(story: JobStory, name: string, change: Partial<Stage>): JobStory {
  const before = story.stages.find((each) => each.name === name);
  const next = { ...(before ?? { name, done: 0, total: null, item: null, counts: null }), ...change };
  return {
    ...story,
    stages: before ? story.stages.map((each) => (each === before ? next : each)) : [...story.stages, next],
  };
}

function unit(story: JobStory, name: string, change: Partial<Unit>): JobStory {
  const before = story.units.find((each) => each.name === name);
  const fresh = { name, items: [], step: 0, budget: null, tools: [], outcome: null, message: null };
  const next = { ...(before ?? fresh), ...change };
  return {
    ...story,
    units: before ? story.units.map((each) => (each === before ? next : each)) : [...story.units, next],
  };
}
