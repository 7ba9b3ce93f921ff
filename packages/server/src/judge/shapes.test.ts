import type {
  BetaManagedAgentsAgent,
  BetaManagedAgentsAgentToolset20260401,
} from "@anthropic-ai/sdk/resources/beta/agents/agents";
import type { BetaEnvironment } from "@anthropic-ai/sdk/resources/beta/environments/environments";
import type { BetaFileMetadata } from "@anthropic-ai/sdk/resources/beta/files";
import type {
  BetaManagedAgentsEventParams,
  BetaManagedAgentsSessionErrorEvent,
  BetaManagedAgentsSessionEvent,
} from "@anthropic-ai/sdk/resources/beta/sessions/events";
import type {
  BetaManagedAgentsDeltaEvent,
  BetaManagedAgentsSession,
  BetaManagedAgentsStartEvent,
} from "@anthropic-ai/sdk/resources/beta/sessions/sessions";
import type { BetaSkill } from "@anthropic-ai/sdk/resources/beta/skills/skills";
import type { BetaSkillVersion } from "@anthropic-ai/sdk/resources/beta/skills/versions";
import type { BetaManagedAgentsSessionThread } from "@anthropic-ai/sdk/resources/beta/sessions/threads/threads";
import type {
  Agent,
  ClientEvent,
  Delta,
  Environment,
  FileMetadata,
  Session,
  SessionErrorDetail,
  SessionEvent,
  SessionEventType,
  Skill,
  SkillVersion,
  Thread,
  Tool,
  ToolsetTool,
} from "@tandem/protocol";
import { describe, expectTypeOf, test } from "vitest";

// Checked by the compiler against the official client's types. If Tandem's types are wider than its actual values,
// because they do not tie one field to another, the test names the fields and ties them itself.

type Fits<Ours, Official> = [Ours] extends [Official] ? true : false;

type Toolset = Extract<Tool, { type: "agent_toolset_20260401" }>;
/** A tool's type equals its name, which the schema does not express; nor that fetching has no sources. */
type Plain = Omit<Toolset["configs"][number], "type" | "name">;
type Config = {
  [T in ToolsetTool]: Plain & { type: T; name: T } & (T extends "web_fetch" ? { url_sources: null } : unknown);
}[ToolsetTool];
type TiedTool = Exclude<Tool, Toolset> | (Omit<Toolset, "configs"> & { configs: Config[] });
/** Applies the tie at every depth. */
type Tied<T> = T extends string
  ? T
  : T extends (infer Item)[]
    ? [Item] extends [never]
      ? never[]
      : [Item] extends [Tool]
        ? TiedTool[]
        : Tied<Item>[]
    : T extends object
      ? { [K in keyof T]: Tied<T[K]> }
      : T;

describe("events", () => {
  type Standard = Exclude<SessionEventType, `tandem.${string}`>;
  /** An event in the log; only queued events have no time yet. */
  type Logged<T extends SessionEventType> = Extract<SessionEvent, { type: T }> & { processed_at: string };
  type Official<T extends string> = Extract<BetaManagedAgentsSessionEvent, { type: T }>;
  type Misfits = { [T in Standard]: Logged<T> extends Official<T> ? never : T }[Standard];

  test("with Anthropic's types have the official shapes", () => {
    expectTypeOf<Fits<Standard, BetaManagedAgentsSessionEvent["type"]>>().toEqualTypeOf<true>();
    // It contains an agent's tools.
    expectTypeOf<Misfits>().toEqualTypeOf<"session.updated">();
    expectTypeOf<Fits<Tied<Logged<"session.updated">>, Official<"session.updated">>>().toEqualTypeOf<true>();
  });

  test("cover every type and every error that the official client knows", () => {
    expectTypeOf<Exclude<BetaManagedAgentsSessionEvent["type"], Standard>>().toEqualTypeOf<never>();
    type Errors = BetaManagedAgentsSessionErrorEvent["error"]["type"];
    expectTypeOf<Exclude<Errors, SessionErrorDetail["type"]>>().toEqualTypeOf<never>();
  });

  test("that clients may send are events that the official client sends", () => {
    expectTypeOf<Fits<ClientEvent, BetaManagedAgentsEventParams>>().toEqualTypeOf<true>();
  });

  test("previews have the official shapes", () => {
    expectTypeOf<Fits<Extract<Delta, { type: "event_start" }>, BetaManagedAgentsStartEvent>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Extract<Delta, { type: "event_delta" }>, BetaManagedAgentsDeltaEvent>>().toEqualTypeOf<true>();
  });
});

describe("resources", () => {
  test("agents, sessions and threads have the official shapes", () => {
    expectTypeOf<Fits<TiedTool, BetaManagedAgentsAgent["tools"][number]>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Config, BetaManagedAgentsAgentToolset20260401["configs"][number]>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Tied<Agent>, BetaManagedAgentsAgent>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Tied<Session>, BetaManagedAgentsSession>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Tied<Thread>, BetaManagedAgentsSessionThread>>().toEqualTypeOf<true>();
  });

  test("skills have the official shapes", () => {
    expectTypeOf<Fits<Skill, BetaSkill>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<SkillVersion, BetaSkillVersion>>().toEqualTypeOf<true>();
  });

  test("files and environments too", () => {
    expectTypeOf<Fits<FileMetadata, BetaFileMetadata>>().toEqualTypeOf<true>();
    expectTypeOf<Fits<Environment, BetaEnvironment>>().toEqualTypeOf<true>();
  });
});
