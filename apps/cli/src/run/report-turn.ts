import { TandemError, type Session } from "@tandem/protocol";
import type { Invocation } from "../invocation.ts";
import { describeTimes } from "../human-units.ts";
import { EXIT_CODES } from "../exit-code.ts";
import type { OutputFormat } from "../option-choices.ts";
import { printable, styleFor, write, writeJson } from "../terminal.ts";
import type { TurnResult } from "./run-turn.ts";

interface Report {
  format: OutputFormat;
  session: Session;
  result: TurnResult;
  wantsObject: boolean;
}

/** Prints the result of a turn and returns the exit code. Throws the error that ended the turn early. */
export async function reportTurn(invocation: Invocation, report: Report): Promise<number> {
  const { format, result, wantsObject } = report;
  if (format === "json") await writeJson(invocation.stdout, asJson(report));
  if (format === "text") {
    if (wantsObject && result.output !== undefined) {
      await writeJson(invocation.stdout, result.output);
    } else if (!wantsObject && !invocation.stdout.isTTY && result.text !== "") {
      await write(invocation.stdout, result.text.endsWith("\n") ? result.text : `${result.text}\n`);
    }
    await showSummary(invocation, report);
  }
  if (result.interrupted) throw new TandemError("aborted", "Interrupted.");
  const problem = failureOf(result, wantsObject);
  if (problem) throw problem;
  return result.unapproved.length > 0 ? EXIT_CODES.unapproved.code : EXIT_CODES.ok.code;
}

function failureOf(result: TurnResult, wantsObject: boolean): TandemError | undefined {
  const { error, stopReason, output, limit, evaluation } = result;
  if (error) {
    const { code = "session_error", fix } = error.tandem ?? {};
    return new TandemError(code, error.message, { fix });
  }
  switch (stopReason.type) {
    case "refusal":
      return new TandemError("refused", "The model declined to answer.", { fix: "Rephrase the prompt." });
    case "budget_reached":
      return new TandemError("budget_reached", limit ?? "The session's budget is exhausted.", {
        fix: "Raise it with `tandem budgets raise` or `tandem budgets set`. Waiting messages then continue.",
      });
    case "retries_exhausted":
      return new TandemError("session_error", "The turn failed.", { fix: "See `tandem sessions show`." });
    case "end_turn":
    case "requires_action":
      if (evaluation && evaluation.result !== "satisfied") return unsatisfied(evaluation);
      return wantsObject && output === undefined
        ? new TandemError("structured_output", "The turn ended without the requested object.", {
            fix: "Simplify the schema or the prompt, or choose a stronger model.",
          })
        : undefined;
  }
}

const unsatisfied = ({ result, explanation }: NonNullable<TurnResult["evaluation"]>): TandemError =>
  new TandemError("outcome_unsatisfied", `The outcome ended as ${result.replaceAll("_", " ")}: ${explanation}`, {
    fix: "Read the evaluations with `tandem sessions show`, then continue with `tandem run --resume last`.",
  });

function asJson({ session, result, wantsObject }: Report): Record<string, unknown> {
  return {
    session_id: session.id,
    agent_id: session.agent.id,
    result: result.text,
    ...(wantsObject && { output: result.output ?? null }),
    ...(result.evaluation && {
      outcome: {
        result: result.evaluation.result,
        explanation: result.evaluation.explanation,
        iteration: result.evaluation.iteration,
      },
    }),
    stop_reason: result.interrupted ? "interrupted" : result.stopReason.type,
    unapproved_tools: result.unapproved,
    models: result.models,
    list_cost_usd: result.usd,
    duration_ms: Math.round(result.durationMs),
    active_ms: Math.round(result.times.activeMs),
    waited_ms: Math.round(result.times.waitedMs),
  };
}

/** On a terminal, prints usage and how to continue. Always lists calls that could not be approved. */
async function showSummary({ stderr }: Invocation, { session, result }: Report): Promise<void> {
  const { dim, warn } = styleFor(stderr);
  if (result.unapproved.length > 0) {
    const tools = result.unapproved.map(printable).join(", ");
    await write(
      stderr,
      `${warn("!")} Denied, because there is no terminal to ask on: ${tools}. Allow it with --allow ${result.unapproved.join(",")}.\n`,
    );
  }
  if (!stderr.isTTY) return;
  const facts = [
    result.models.join(", "),
    `took ${describeTimes(result.times)}`,
    `$${result.usd.toFixed(4)} at list price`,
    session.id,
  ].filter(Boolean);
  await write(stderr, `${dim(facts.join(" · "))}\n`);
}
