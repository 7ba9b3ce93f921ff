import type * as context from "@tandem/context";
import type { BodyOutput, Hunk, HunkGroup, Proposal, ProposalSummary, TableGraph } from "@tandem/protocol";
import { expectTypeOf, test } from "vitest";
import type { Wire } from "../../wire-encoder.ts";

// Checked by the compiler: the stored shapes of the context, encoded for the API, equal the contract.

test("proposals", () => {
  type Encoded = Wire<context.Proposal>;
  expectTypeOf<Encoded>().toEqualTypeOf<Omit<Proposal, "groups" | "next_page">>();
  expectTypeOf<Encoded["changes"][number]["hunks"][number]>().toEqualTypeOf<Hunk>();
  expectTypeOf<Wire<context.ProposalSummary>>().toEqualTypeOf<ProposalSummary>();
});

test("groups of hunks, and filters", () => {
  expectTypeOf<Wire<context.HunkGroup>>().toEqualTypeOf<HunkGroup>();
  expectTypeOf<Wire<context.HunkFilter>>().toEqualTypeOf<NonNullable<BodyOutput<"proposals.accept">["filter"]>>();
});

test("the graph of tables", () => {
  expectTypeOf<Wire<context.TableGraph>>().toEqualTypeOf<Omit<TableGraph, "box">>();
});
