import type { HunkFilter } from "@tandem/context";
import { type BodyOutput, PROPOSAL_FILES, type QueryOutput, RequestError } from "@tandem/protocol";
import { contextOf, loadContext } from "../../context-of.ts";
import { jsonRoute, type Call, type Route } from "../../route.ts";
import { wireEncoder } from "../../wire-encoder.ts";

const encodeProposal = wireEncoder(async () => (await loadContext()).proposal);
const encodeSummary = wireEncoder(async () => (await loadContext()).proposalSummary);
const encodeGroup = wireEncoder(async () => (await loadContext()).hunkGroup);

const proposalsOf = (call: Pick<Call, "context">) => contextOf(call).context.proposals;

/** A proposal with its first files, or those after the cursor. */
async function pageOfProposal(
  call: Call,
  { limit = PROPOSAL_FILES, page, ...criteria }: Partial<QueryOutput<"proposals.retrieve">> = {},
) {
  const id = call.params["proposal_id"]!;
  if (page !== undefined && !/^\d{6}$/.test(page)) {
    throw new RequestError("invalid_request", "page: this cursor is not one of this list.", {
      fix: "Begin again without `page`.",
    });
  }
  const filter = Object.keys(criteria).length > 0 ? filterOf(criteria) : undefined;
  const found = await proposalsOf(call).page(id, {
    limit,
    ...(page !== undefined && { after: page }),
    ...(filter && { filter }),
  });
  if (!found) throw new RequestError("not_found", `There is no proposal ${id}.`);
  const { groups, next } = found;
  return {
    ...(await encodeProposal(found.proposal)),
    groups: await Promise.all(groups.map(encodeGroup)),
    next_page: next,
  };
}

/** The filter of a URL. */
const filterOf = ({ certain, ...criteria }: QueryOutput<"proposals.preview">): HunkFilter =>
  readFilter({ ...criteria, ...(certain !== undefined && { certain: certain === "true" }) });

const readFilter = ({
  min_confidence: minConfidence,
  ...rest
}: NonNullable<BodyOutput<"proposals.accept">["filter"]>): HunkFilter => ({
  ...rest,
  ...(minConfidence !== undefined && { minConfidence }),
});

const choiceOf = ({ hunks, filter }: BodyOutput<"proposals.accept">) => ({
  ...(hunks && { hunks }),
  ...(filter && { filter: readFilter(filter) }),
});

/** Proposals for the context, and decisions under the token's name. */
export const proposalRoutes: Route[] = [
  jsonRoute("proposals.list", {
    scope: "read",
    at: "context",
    summary: "List proposals without their lines, newest first",
    handle: async (call) => {
      const { limit, page: after, states } = call.query;
      const found = await proposalsOf(call).list({
        limit: limit + 1,
        ...(after !== undefined && { after }),
        ...(states && { states }),
      });
      const data = found.slice(0, limit);
      return {
        data: await Promise.all(data.map(encodeSummary)),
        next_page: found.length > limit ? data.at(-1)!.id : null,
      };
    },
  }),
  jsonRoute("proposals.retrieve", {
    scope: "read",
    at: "context",
    summary: "Retrieve a proposal with its lines and the evidence of each, some files at a time",
    handle: (call) => pageOfProposal(call, call.query),
  }),
  jsonRoute("proposals.preview", {
    scope: "read",
    at: "context",
    summary: "Count the open hunks of a proposal that a filter would accept; nothing is changed",
    handle: async (call) => {
      const id = call.params.proposal_id;
      const found = await proposalsOf(call).preview(id, filterOf(call.query));
      if (!found) throw new RequestError("not_found", `There is no proposal ${id}.`);
      return { ...found, groups: await Promise.all(found.groups.map(encodeGroup)) };
    },
  }),
  jsonRoute("proposals.accept", {
    scope: "run",
    at: "context",
    summary: "Accept a proposal, some hunks of it, or those that match a filter: they become a commit",
    handle: async (call) => {
      await proposalsOf(call).accept(call.params.proposal_id, { ...choiceOf(call.body), by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.reject", {
    scope: "run",
    at: "context",
    summary: "Reject a proposal, some hunks of it, or those that match a filter: the same change is not proposed again",
    handle: async (call) => {
      const { reason } = call.body;
      const choice = { ...choiceOf(call.body), ...(reason !== undefined && { reason }) };
      await proposalsOf(call).reject(call.params.proposal_id, { ...choice, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.edit", {
    scope: "run",
    at: "context",
    summary: "Replace the proposed text of a file with an edited one",
    handle: async (call) => {
      await proposalsOf(call).edit(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.answer", {
    scope: "run",
    at: "context",
    summary: "Answer a question of a proposal, such as which of two sources is right",
    handle: async (call) => {
      await proposalsOf(call).answer(call.params.proposal_id, { ...call.body, by: call.token.name });
      return pageOfProposal(call);
    },
  }),
  jsonRoute("proposals.undo", {
    scope: "run",
    at: "context",
    summary: "Undo the accepted hunks of a proposal",
    handle: async (call) => {
      await proposalsOf(call).undo(call.params.proposal_id, call.token.name);
      return pageOfProposal(call);
    },
  }),
];
