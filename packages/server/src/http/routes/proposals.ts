import { proposal, PROPOSAL_STATES, proposalSummary } from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { jsonRoute, type Call, type Route } from "../route.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";
import { wireForm } from "../schemas/wire-form.ts";

/** Files of a proposal that are sent at once, unless more are wanted; a page is never larger than some megabytes. */
const FILES = 50;

const nextPage = z.string().nullable().meta({ description: "More of its files: `page` of the next request for it." });
const whole = wireForm(proposal.extend({ nextPage }));
const summary = wireForm(proposalSummary);
const response = whole.schema.meta({ id: "Proposal" });

const hunks = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .meta({ description: "All that are open where it is absent." });

const path = (action: string) => `/v1/proposals/:proposal_id/${action}` as const;
const proposalsOf = (call: Pick<Call, "context">) => contextOf(call).context.proposals;

/** A proposal with its first files, or those from after the cursor. */
async function pageOfProposal(call: Call, { limit = FILES, page }: { limit?: number; page?: string } = {}) {
  const id = call.params["proposal_id"]!;
  if (page !== undefined && !/^\d{6}$/.test(page)) {
    throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
      fix: "Begin again without `page`.",
    });
  }
  const found = await proposalsOf(call).page(id, { limit, ...(page !== undefined && { after: page }) });
  if (!found) throw new RequestError("not_found", `There is no proposal ${id}.`);
  return whole.encode({ ...found.proposal, nextPage: found.next });
}

/** What is proposed for the context, and deciding about it in the name of the token. */
export const proposalRoutes: Route[] = [
  jsonRoute({
    name: "proposals.list",
    method: "GET",
    path: "/v1/proposals",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List proposals without their lines, the newest first",
    query: z.strictObject({ ...pageQuery, states: z.array(z.enum(PROPOSAL_STATES)).optional() }),
    response: pageOf(summary.schema.meta({ id: "ProposalSummary" })),
    handle: async (call) => {
      const { limit, page: after, states } = call.query;
      const found = await proposalsOf(call).list({
        limit: limit + 1,
        ...(after !== undefined && { after }),
        ...(states && { states }),
      });
      const data = found.slice(0, limit);
      return { data: data.map(summary.encode), next_page: found.length > limit ? data.at(-1)!.id : null };
    },
  }),
  jsonRoute({
    name: "proposals.retrieve",
    method: "GET",
    path: "/v1/proposals/:proposal_id",
    scope: "read",
    at: "context",
    extension: true,
    summary: "Retrieve a proposal with its lines and what each rests on, some files at a time",
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(1_000).default(FILES),
      page: z.string().min(1).optional(),
    }),
    response,
    handle: (call) => pageOfProposal(call, call.query),
  }),
  jsonRoute({
    name: "proposals.accept",
    method: "POST",
    path: path("accept"),
    scope: "run",
    at: "context",
    extension: true,
    summary: "Accept a proposal, or some hunks of it: they become a commit",
    body: z.strictObject({ hunks }).meta({ id: "AcceptProposal" }),
    response,
    handle: async (call) => {
      await proposalsOf(call).accept(call.params.proposal_id, { hunks: call.body.hunks, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute({
    name: "proposals.reject",
    method: "POST",
    path: path("reject"),
    scope: "run",
    at: "context",
    extension: true,
    summary: "Reject a proposal, or some hunks of it: the same is not proposed again",
    body: z.strictObject({ hunks, reason: z.string().max(10_000).optional() }).meta({ id: "RejectProposal" }),
    response,
    handle: async (call) => {
      await proposalsOf(call).reject(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute({
    name: "proposals.edit",
    method: "POST",
    path: path("edit"),
    scope: "run",
    at: "context",
    extension: true,
    summary: "Put one's own text of a file in the place of the proposed one",
    body: z.strictObject({ path: z.string().min(1), after: z.string() }).meta({ id: "EditProposal" }),
    response,
    handle: async (call) => {
      await proposalsOf(call).edit(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute({
    name: "proposals.answer",
    method: "POST",
    path: path("answer"),
    scope: "run",
    at: "context",
    extension: true,
    summary: "Answer a question of a proposal, such as which of two sources is right",
    body: z
      .strictObject({ decision: z.string().min(1), answer: z.string().min(1).max(10_000) })
      .meta({ id: "AnswerProposal" }),
    response,
    handle: async (call) => {
      await proposalsOf(call).answer(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute({
    name: "proposals.undo",
    method: "POST",
    path: path("undo"),
    scope: "run",
    at: "context",
    extension: true,
    summary: "Undo what was accepted of a proposal",
    response,
    handle: async (call) => {
      await proposalsOf(call).undo(call.params.proposal_id, call.token.name);
      return pageOfProposal(call);
    },
  }),
];
