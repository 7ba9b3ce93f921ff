import type { PartOf } from "@tandem/protocol";
import { CircleAlert, Info, OctagonX, RotateCw, Square, TriangleAlert, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { Code } from "../../text/code.tsx";
import { count, formatDateTime, duration } from "../../text/format.ts";
import { Markdown } from "../../text/markdown.tsx";
import { InlineCode } from "../../text/inline-code.tsx";
import { MODE_LABELS } from "../../text/mode-labels.ts";
import { useTimeUntil } from "../../ui/use-now.ts";
import { AllowHost } from "./allow-host.tsx";
import { EvaluationRow, OutcomeCard } from "./outcome-row.tsx";

/** A status row: retry, compaction, error, stop or notice. */
export function StatusRow({
  part,
}: {
  part: PartOf<
    | "retry"
    | "compaction"
    | "error"
    | "stop"
    | "notice"
    | "output"
    | "interruption"
    | "recovery"
    | "evaluation"
    | "outcome"
  >;
}): ReactNode {
  switch (part.type) {
    case "retry":
      return <RetryRow part={part} />;
    case "compaction":
      return <CompactionRow part={part} />;
    case "error":
      return <ErrorRow part={part} />;
    case "stop":
      return <StopRow part={part} />;
    case "notice":
      return <NoticeRow part={part} />;
    case "output":
      return (
        <div className="py-1.5">
          <p className="mb-1 text-xs text-ink-faint">Result</p>
          <Code text={JSON.stringify(part.value, null, 2)} language="json" />
        </div>
      );
    case "interruption":
      return (
        <p className="flex items-center gap-2 py-1.5 text-sm text-ink-soft">
          <Square aria-hidden className="size-3.5 fill-current text-ink-faint" /> Stopped here
        </p>
      );
    case "evaluation":
      return <EvaluationRow part={part} />;
    case "outcome":
      return <OutcomeCard part={part} />;
    case "recovery":
      return (
        <Banner icon={<Wrench aria-hidden className="size-4" />} look="bg-wait-soft text-wait" title="Resumed">
          {part.cause}
          {part.closed.length > 0 && ". A call that was running then may or may not have completed."}
        </Banner>
      );
  }
}

function Banner({
  icon,
  look,
  title,
  children,
}: {
  icon: ReactNode;
  look: string;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className={`my-1.5 flex gap-2.5 rounded-lg px-3 py-2 text-sm ${look}`}>
      <span className="pt-0.5">{icon}</span>
      <div className="min-w-0 wrap-anywhere">
        <p className="font-medium">{title}</p>
        {children}
      </div>
    </div>
  );
}

function RetryRow({ part }: { part: PartOf<"retry"> }) {
  const due = part.at !== null && part.delay_ms !== null ? Date.parse(part.at) + part.delay_ms : undefined;
  const left = useTimeUntil(due);
  const tries =
    part.attempt === null ? "" : `, attempt ${part.attempt}${part.max_attempts ? ` of ${part.max_attempts}` : ""}`;
  return (
    <p className="flex items-center gap-2 py-1 text-sm text-wait">
      <RotateCw aria-hidden className={`size-3.5 shrink-0 ${left > 0 ? "animate-spin" : ""}`} />
      <span className="min-w-0 truncate" title={part.reason}>
        {part.error?.message ?? part.reason}
      </span>
      <span className="shrink-0 tabular-nums">
        {left > 0 ? `retry in ${duration(Math.ceil(left / 1_000) * 1_000)}${tries}` : `retried${tries}`}
      </span>
    </p>
  );
}

function CompactionRow({ part }: { part: PartOf<"compaction"> }) {
  const { trigger, tokens_before: before, tokens_after: after } = part;
  const words = [
    trigger === "manual" ? "Compacted on request" : "Compacted",
    ...(before === null
      ? []
      : [after === null ? `${count(before)} tokens` : `${count(before)} → ${count(after)} tokens`]),
  ];
  return (
    <div className="my-4 flex items-center gap-3 text-xs text-ink-faint">
      <span className="h-px flex-1 bg-line" />
      {words.join(" · ")}
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}

const ERRORS: Readonly<Record<PartOf<"error">["error"]["type"], string>> = {
  unknown_error: "Something went wrong",
  model_overloaded_error: "The model is overloaded",
  model_rate_limited_error: "The model’s rate limit is reached",
  model_request_failed_error: "The model request failed",
  mcp_connection_failed_error: "An MCP server could not be reached",
  mcp_authentication_failed_error: "An MCP server requires a sign-in",
  billing_error: "The account has no credit for this",
  tool_use_limit_reached_error: "Too many tool calls",
  compaction_limit_reached_error: "The conversation is too long",
  repository_authentication_error: "A repository requires a sign-in",
  repository_forbidden_error: "Access to a repository was refused",
  repository_not_found_error: "A repository was not found",
  repository_checkout_error: "A branch or commit was not found",
  repository_clone_error: "A repository could not be cloned",
  credential_host_unreachable_error: "The network policy blocks a credential’s host",
};

function ErrorRow({ part: { error } }: { part: PartOf<"error"> }) {
  return (
    <Banner icon={<OctagonX aria-hidden className="size-4" />} look="bg-bad-soft text-bad" title={ERRORS[error.type]}>
      <p>{error.message}</p>
      {error.tandem?.fix !== undefined && (
        <p className="mt-1 text-ink">
          <InlineCode text={error.tandem.fix} />
        </p>
      )}
      {error.tandem?.resets_at !== undefined && (
        <p className="mt-1 text-ink-soft">Resets at {formatDateTime(error.tandem.resets_at)}.</p>
      )}
    </Banner>
  );
}

const STOPS = {
  retries_exhausted: ["Retries exhausted", "Send a message to try again."],
  budget_reached: ["The budget is reached", "Raise it under Settings, Budgets, then send a message to continue."],
  refusal: ["The model declined", "Rewind to before this message, or rephrase the request."],
} as const;

function StopRow({ part }: { part: PartOf<"stop"> }) {
  const [title, fix] = STOPS[part.reason];
  return (
    <Banner icon={<CircleAlert aria-hidden className="size-4" />} look="bg-wait-soft text-wait" title={title}>
      {part.explanation !== null && <p>{part.explanation}</p>}
      <p className="text-ink">{fix}</p>
    </Banner>
  );
}

const LEVELS = {
  info: ["text-ink-faint", Info],
  warning: ["text-wait", TriangleAlert],
  error: ["text-bad", OctagonX],
} as const;

/** Timestamps of the log, shown in local time instead. */
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function noticeText({ about, text }: PartOf<"notice">): string {
  // The log has the technical name of the mode; show its label.
  const localized =
    about === "tandem.mode" ? text.replace(/\bis (\w+) now/, (_, mode) => `is “${modeLabel(mode)}” now`) : text;
  return localized.replaceAll(TIME, formatDateTime);
}

const modeLabel = (mode: string): string => (MODE_LABELS as Record<string, string>)[mode] ?? mode;

function NoticeRow({ part }: { part: PartOf<"notice"> }) {
  const [look, Icon] = LEVELS[part.level];
  // Multi-line command output is rendered as Markdown.
  if (part.level === "info" && part.text.includes("\n")) {
    return (
      <div className="py-1.5">
        <Markdown text={noticeText(part)} />
      </div>
    );
  }
  return (
    <div className={`flex gap-2 py-1 text-sm ${look}`}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 wrap-anywhere">
        <p>{noticeText(part)}</p>
        {part.host !== undefined && <AllowHost host={part.host} />}
      </div>
    </div>
  );
}
