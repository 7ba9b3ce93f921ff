import type { Candidate } from "./join-candidates.ts";
import { isNamed, ACCEPT_POINTS, type Judgement, REVIEW_POINTS, sharesPrefix } from "./score.ts";

export interface Judged extends Judgement {
  candidate: Candidate;
}

export interface Choice extends Judged {
  status: "accepted" | "review" | "rejected";
}

/** Candidates closer than this are ambiguous. */
const MARGIN = 0.2;
const REJECTED_PER_COLUMN = 2;

/** A column refers to one table: its best candidate, if it is good enough and clearly better than the next. */
export function chooseTargets(judged: readonly Judged[]): Choice[] {
  const choices = [...Map.groupBy(judged, ({ candidate }) => candidate.from).values()].flatMap((rivals) => {
    const [best, ...others] = rivals.map(withHubFirst).toSorted((a, b) => b.points - a.points);
    const next = others[0];
    const close = next !== undefined && best!.points - next.points < MARGIN && next.points >= REVIEW_POINTS;
    const choices: Choice[] = [];
    if (best!.points < REVIEW_POINTS) choices.push({ ...best!, status: "rejected" });
    else if (close) {
      choices.push({
        ...best!,
        status: "review",
        confidence: Math.min(best!.confidence, 0.5),
        why: [...best!.why, tie(next)],
      });
      choices.push({
        ...next,
        status: "review",
        confidence: Math.min(next.confidence, 0.5),
        why: [...next.why, tie(best!)],
      });
    } else choices.push({ ...best!, status: isAccepted(best!) ? "accepted" : "review" });
    for (const other of others.slice(0, REJECTED_PER_COLUMN)) {
      if (choices.some((choice) => choice.candidate === other.candidate)) continue;
      if (!isNamed(other.candidate) && !other.candidate.suggestion) continue;
      choices.push({ ...other, status: "rejected", why: [...other.why, `${nameOf(best!)} fits better.`] });
    }
    return choices;
  });
  return choices.map((choice) => withoutCopies(choice, choices));
}

/** Names and types alone are not enough: they match by chance in a schema of many tables. */
const isAccepted = ({ points, isCompared }: Judged): boolean => isCompared && points >= ACCEPT_POINTS;

/** Of several tables with the same key, the one with the most rows is the origin. */
function withHubFirst(judged: Judged, _: number, rivals: readonly Judged[]): Judged {
  const rows = ({ candidate }: Judged) => candidate.to.table.rows ?? 0;
  const alike = rivals.filter(({ candidate }) => candidate.to.name === judged.candidate.to.name && isNamed(candidate));
  // north_order belongs to north_customer, however many customers the west has.
  const isNear = ({ candidate: { from, to } }: Judged) =>
    from.table.name.schema === to.table.name.schema && sharesPrefix(from.table, to.table);
  const isAway = (each: Judged) => each.candidate.from.table.name.schema !== each.candidate.to.table.name.schema;
  if (!isNear(judged) && alike.some(isNear)) return judged;
  if (isAway(judged) && !alike.every(isAway)) return judged;
  const isHub = alike.length > 1 && alike.every((other) => other === judged || rows(other) < rows(judged));
  return isHub ? { ...judged, points: judged.points + 0.3 } : judged;
}

/** order.customer_name beside order.customer_id repeats the customer's row. */
function withoutCopies(choice: Choice, all: readonly Choice[]): Choice {
  const { from, key } = choice.candidate;
  if (choice.status !== "accepted" || key.primary) return choice;
  const reference = all.find(
    ({ status, candidate }) =>
      status === "accepted" &&
      candidate.key.primary &&
      candidate.from.table === from.table &&
      candidate.key.table === key.table,
  );
  if (!reference) return choice;
  const why = `${reference.candidate.from.name} refers to the same table already, so that this may be a copy.`;
  return { ...choice, status: "review", confidence: Math.min(0.5, choice.confidence), why: [...choice.why, why] };
}

const nameOf = ({ candidate }: Judged): string => `${candidate.to.table.name.name}.${candidate.to.name}`;
const tie = (other: Judged): string => `${nameOf(other)} fits as well.`;
