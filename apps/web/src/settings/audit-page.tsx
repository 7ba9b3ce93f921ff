import { AUDIT_KINDS, type AuditEntry, type AuditVerdict } from "@tandem/protocol";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download, ShieldCheck } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { api } from "../api/client.ts";
import { saveDownload } from "../api/save-download.ts";
import { formatSeconds } from "../text/format.ts";
import { capitalised } from "../text/mode-labels.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextInput } from "../ui/field.tsx";
import { Problem } from "../ui/problem.tsx";
import { Select } from "../ui/select.tsx";
import { ListPanel, PageHead } from "./panel.tsx";

const SUBJECTS = [...new Set(AUDIT_KINDS.map((kind) => kind.split(".")[0] ?? kind))];

/** The audit log. Its hash chain shows tampering. */
export default function AuditPage() {
  const [subject, setSubject] = useState("");
  const [actor, setActor] = useState("");
  const askedActor = useDeferredValue(actor.trim());
  const kinds = AUDIT_KINDS.filter((kind) => kind.startsWith(`${subject}.`));
  const query = { ...(subject !== "" && { kinds }), ...(askedActor !== "" && { actor: askedActor }) };
  const list = useInfiniteQuery({
    queryKey: ["/v1/audit", query],
    queryFn: ({ pageParam, signal }) =>
      api.call("audit.list", { query: { limit: 50, page: pageParam, ...query }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_page }) => next_page ?? undefined,
  });
  const verify = useMutation({ mutationFn: () => api.call("audit.verify", { body: {} }) });
  const save = useMutation({ mutationFn: async () => saveDownload(await api.download("audit.export")) });
  const entries = list.data?.pages.flatMap(({ data }) => data) ?? [];
  const tools = toolsByCall(entries);
  return (
    <>
      <PageHead
        title="Audit"
        action={
          <div className="flex gap-2">
            <Button
              icon={<ShieldCheck aria-hidden className="size-4" />}
              disabled={verify.isPending}
              onClick={() => verify.mutate()}
            >
              Verify
            </Button>
            <Button
              icon={<Download aria-hidden className="size-4" />}
              disabled={save.isPending}
              onClick={() => save.mutate()}
            >
              Export
            </Button>
          </div>
        }
      >
        Who did what, and when. A hash chain links the entries, so that tampering is detected.
      </PageHead>
      <Problem error={verify.error ?? save.error} className="mb-3" />
      {verify.data && <Verdict verdict={verify.data} />}
      <div className="mb-3 flex flex-wrap gap-2">
        <Select
          aria-label="Subject"
          value={subject}
          onChange={setSubject}
          options={[{ value: "", label: "All subjects" }, ...SUBJECTS.map((value) => ({ value, label: value }))]}
        />
        <TextInput
          aria-label="Actor"
          placeholder="Any actor (exact name)"
          value={actor}
          onChange={(event) => setActor(event.target.value)}
          className="max-w-64"
        />
      </div>
      <Problem error={list.error} onRetry={() => void list.refetch()} className="mb-3" />
      <ListPanel items={list.data && entries} empty={<Empty title="No matching entries" />}>
        {(entry) => <Entry key={entry.seq} entry={entry} tool={toolOf(entry, tools)} />}
      </ListPanel>
      {list.hasNextPage && (
        <Button disabled={list.isFetching} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </>
  );
}

/** Only the request of a call names its tool. Later entries refer to the call by its id. */
const toolsByCall = (entries: readonly AuditEntry[]): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ details: { event, tool } }) =>
      typeof event === "string" && typeof tool === "string" ? [[event, tool] as const] : [],
    ),
  );

function toolOf({ details: { tool, call } }: AuditEntry, tools: ReadonlyMap<string, string>): string | undefined {
  if (typeof tool === "string") return tool;
  return typeof call === "string" ? tools.get(call) : undefined;
}

function Entry({
  entry: { seq, at, actor, kind, session, details },
  tool,
}: {
  entry: AuditEntry;
  tool: string | undefined;
}) {
  const { tool: _tool, ...others } = details;
  return (
    <li>
      <details className="group">
        <summary className="grid cursor-pointer items-baseline gap-x-3 px-3 py-1.5 hover:bg-raised max-sm:grid-cols-[1fr_auto] sm:grid-cols-[12rem_10rem_6.5rem_minmax(0,1fr)]">
          <time dateTime={at} className="text-sm whitespace-nowrap text-ink-faint tabular-nums">
            {formatSeconds(at)}
          </time>
          <span className="min-w-0 truncate font-medium max-sm:order-1 max-sm:col-span-2">
            {capitalised(kind.replaceAll(/[._]/g, " "))}
          </span>
          <span className="min-w-0 truncate text-sm text-ink-soft" title={actor}>
            {actor.replace(/^agent:/, "")}
          </span>
          <span className="min-w-0 truncate text-sm text-ink-faint max-sm:order-2 max-sm:col-span-2">
            {tool !== undefined && <span className="mr-2 font-mono text-xs text-ink-soft">{tool}</span>}
            {detailsSummary(others)}
          </span>
        </summary>
        <div className="px-3 pb-2">
          <pre
            tabIndex={0}
            className="max-h-60 overflow-auto rounded-md bg-raised p-2 font-mono text-xs whitespace-pre-wrap"
          >
            {JSON.stringify({ seq, ...details }, null, 2)}
          </pre>
          {session !== null && (
            <Link
              to="/sessions/$session"
              params={{ session }}
              className="mt-1 inline-block text-sm text-accent underline"
            >
              Open session
            </Link>
          )}
        </div>
      </details>
    </li>
  );
}

/** Ids, hashes and times are left out of the summary. */
const OPAQUE = /^([a-z]+_[0-9A-Za-z]{20,}|[0-9a-f]{32,}|\d{4}-\d\d-\d\dT.*)$/;

const detailsSummary = (details: AuditEntry["details"]): string =>
  Object.entries(details)
    .filter(([, value]) => typeof value === "number" || (typeof value === "string" && !OPAQUE.test(value)))
    .slice(0, 3)
    .map(([key, value]) => `${key.replaceAll("_", " ")}: ${String(value)}`)
    .join(" · ");

function Verdict({ verdict: { ok, entries, head, broken } }: { verdict: AuditVerdict }) {
  return (
    <output className={`mb-3 block rounded-md px-3 py-2 ${ok ? "bg-good-soft text-good" : "bg-bad-soft text-bad"}`}>
      {ok
        ? `All ${entries} entries are intact. To detect truncation later, note the head elsewhere: ${head.seq} ${head.hash.slice(0, 16)}…`
        : `Entry ${broken?.seq}: ${broken?.message}`}
    </output>
  );
}
