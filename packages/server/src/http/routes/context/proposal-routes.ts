import { proposal, proposalSummary } from "@tandem/context";
import { PROPOSAL_FILES, RequestError } from "@tandem/protocol";
import { contextOf } from "../../context-of.ts";
import { jsonRoute, type Call, type Route } from "../../route.ts";
import { wireEncoder } from "../../wire-encoder.ts";

const encodeProposal = wireEncoder(proposal);
const encodeSummary = wireEncoder(proposalSummary);

const proposalsOf = (call: Pick<Call, "context">) => contextOf(call).context.proposals;

/** A proposal with its first files, or those after the cursor. */
async function pageOfProposal(call: Call, { limit = PROPOSAL_FILES, page }: { limit?: number; page?: string } = {}) {
  const id = call.params["proposal_id"]!;
  if (page !== undefined && !/^\d{6}$/.test(page)) {
    throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
      fix: "Begin again without `page`.",
    });
  }
  const found = await proposalsOf(call).page(id, { limit, ...(page !== undefined && { after: page }) });
  if (!found) throw new RequestError("not_found", `There is no proposal ${id}.`);
  return { ...encodeProposal(found.proposal), next_page: found.next };
}

/** Proposals for the context, and decisions under the token's name. */
export const proposalRoutes: Route[] = [
  jsonRoute("proposals.list", {
    scope: "read",
    at: "context",
    extension: true,
    summary: "List proposals without their lines, the newest first",
    handle: async (call) => {
      const { limit, page: after, states } = call.query;
      const found = await proposalsOf(call).list({
        limit: limit + 1,
        ...(after !== undefined && { after }),
        ...(states && { states }),
      });
      const data = found.slice(0, limit);
      return { data: data.map(encodeSummary), next_page: found.length > limit ? data.at(-1)!.id : null };
    },
  }),
  jsonRoute("proposals.retrieve", {
    scope: "read",
    at: "context",
    extension: true,
    summary: "Retrieve a proposal with its lines and what each rests on, some files at a time",
    handle: (call) => pageOfProposal(call, call.query),
  }),
  jsonRoute("proposals.accept", {
    scope: "run",
    at: "context",
    extension: true,
    summary: "Accept a proposal, or some hunks of it: they become a commit",
    handle: async (call) => {
      await proposalsOf(call).accept(call.params.proposal_id, { hunks: call.body.hunks, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.reject", {
    scope: "run",
    at: "context",
    extension: true,
    summary: "Reject a proposal, or some hunks of it: the same is not proposed again",
    handle: async (call) => {
      await proposalsOf(call).reject(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.edit", {
    scope: "run",
    at: "context",
    extension: true,
    summary: "Put one's own text of a file in the place of the proposed one",
    handle: async (call) => {
      await proposalsOf(call).edit(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.answer", {
    scope: "run",
    at: "context",
    extension: true,
    summary: "Answer a question of a proposal, such as which of two sources is right",
    handle: async (call) => {
      await proposalsOf(call).answer(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.undo", {
    scope: "run",
    at: "context",
    extension: true,
    summary: "Undo what was accepted of a proposal",
    handle: async (call) => {
      await proposalsOf(call).undo(call.params.proposal_id, call.token.name);
      return pageOfProposal(call);
    },
  }),
];
