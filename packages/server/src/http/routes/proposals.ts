import { proposal, PROPOSAL_STATES, proposalSummary } from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { jsonRoute, type Call, type Route } from "../route.ts";
import { pageOf, pageQuery } from "../schemas/page.ts";
import { wireForm } from "../schemas/wire-form.ts";

const whole = wireForm(proposal);
const summary = wireForm(proposalSummary);
const response = whole.schema.meta({ id: "Proposal" });

const hunks = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .meta({ description: "All that are open where it is absent." });

const path = (action: string) => `/v1/proposals/:proposal_id/${action}` as const;
const proposalsOf = (call: Pick<Call, "context">) => contextOf(call).context.proposals;

/** What is proposed for the context, and deciding about it in the name of the token. */
export const proposalRoutes: Route[] = [
  jsonRoute({
    name: "proposals.list",
    method: "GET",
    path: "/v1/proposals",
    scope: "read",
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
    extension: true,
    summary: "Retrieve a proposal with its lines and what each rests on",
    response,
    handle: async (call) => {
      const found = await proposalsOf(call).get(call.params.proposal_id);
      if (found) return whole.encode(found);
      throw new RequestError("not_found", `There is no proposal ${call.params.proposal_id}.`);
    },
  }),
  jsonRoute({
    name: "proposals.accept",
    method: "POST",
    path: path("accept"),
    scope: "run",
    extension: true,
    summary: "Accept a proposal, or some hunks of it: they become a commit",
    body: z.strictObject({ hunks }).meta({ id: "AcceptProposal" }),
    response,
    handle: async (call) =>
      whole.encode(
        await proposalsOf(call).accept(call.params.proposal_id, { hunks: call.body.hunks, by: call.token.name }),
      ),
  }),
  jsonRoute({
    name: "proposals.reject",
    method: "POST",
    path: path("reject"),
    scope: "run",
    extension: true,
    summary: "Reject a proposal, or some hunks of it: the same is not proposed again",
    body: z.strictObject({ hunks, reason: z.string().max(10_000).optional() }).meta({ id: "RejectProposal" }),
    response,
    handle: async (call) =>
      whole.encode(await proposalsOf(call).reject(call.params.proposal_id, { ...call.body, by: call.token.name })),
  }),
  jsonRoute({
    name: "proposals.edit",
    method: "POST",
    path: path("edit"),
    scope: "run",
    extension: true,
    summary: "Put one's own text of a file in the place of the proposed one",
    body: z.strictObject({ path: z.string().min(1), after: z.string() }).meta({ id: "EditProposal" }),
    response,
    handle: async (call) =>
      whole.encode(await proposalsOf(call).edit(call.params.proposal_id, { ...call.body, by: call.token.name })),
  }),
  jsonRoute({
    name: "proposals.answer",
    method: "POST",
    path: path("answer"),
    scope: "run",
    extension: true,
    summary: "Answer a question of a proposal, such as which of two sources is right",
    body: z
      .strictObject({ decision: z.string().min(1), answer: z.string().min(1).max(10_000) })
      .meta({ id: "AnswerProposal" }),
    response,
    handle: async (call) =>
      whole.encode(await proposalsOf(call).answer(call.params.proposal_id, { ...call.body, by: call.token.name })),
  }),
  jsonRoute({
    name: "proposals.undo",
    method: "POST",
    path: path("undo"),
    scope: "run",
    extension: true,
    summary: "Undo what was accepted of a proposal",
    response,
    handle: async (call) => whole.encode(await proposalsOf(call).undo(call.params.proposal_id, call.token.name)),
  }),
];
