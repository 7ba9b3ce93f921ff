import { useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { api } from "../api/client.ts";
import { useServerQuery } from "../api/use-server-query.ts";
import type { CompletionTarget } from "./completion-at.ts";

const SHOWN = 8;

export interface Choice {
  name: string;
  note: string;
}

/** A session, or the folder of a session to be started; undefined if it is not known. */
export type CompletionScope = { session: string } | { folder: string | undefined };

/** Suggestions for the typed text. */
export function useSuggestions(scope: CompletionScope, target: CompletionTarget | undefined): readonly Choice[] {
  const query = useDeferredValue(target?.query ?? "");
  const session = "session" in scope ? scope.session : undefined;
  const [path, of] =
    "session" in scope
      ? ([`/v1/sessions/${scope.session}/commands`, undefined] as const)
      : (["/v1/commands", { folder: scope.folder }] as const);
  const commands = useQuery({
    queryKey: of === undefined ? [path] : [path, of],
    queryFn: ({ signal }) =>
      session === undefined
        ? api.call("commands.list", { query: { folder: of?.folder ?? "" }, signal })
        : api.call("sessions.commands.list", { params: { session_id: session }, signal }),
    enabled: target?.kind === "command" && (of === undefined || of.folder !== undefined),
    staleTime: 30_000,
    retry: false,
  });
  const params = { session_id: session ?? "" };
  const isFile = session !== undefined && target?.kind === "file";
  const files = useServerQuery(
    "sessions.files.search",
    { params, query: { name: query, limit: SHOWN } },
    { enabled: isFile && query !== "", placeholderData: (before) => before },
  );
  const folder = useServerQuery("sessions.files.list", { params }, { enabled: isFile && query === "" });
  if (target?.kind === "command") {
    return (commands.data?.data ?? [])
      .filter(({ name }) => name.toLowerCase().includes(target.query.toLowerCase()))
      .sort((a, b) => Number(b.name.startsWith(target.query)) - Number(a.name.startsWith(target.query)))
      .slice(0, SHOWN)
      .map(({ name, description, argument_hint }) => ({
        name,
        note: [argument_hint, description].filter(Boolean).join("  "),
      }));
  }
  if (target?.kind !== "file") return [];
  const found = (query === "" ? folder.data?.data.filter(({ type }) => type === "file") : files.data?.data) ?? [];
  // Enter may follow before the answer to the last letters: it must not complete a file that does not match them.
  const isEarlier = query !== target.query || (query !== "" && files.isPlaceholderData);
  const typed = target.query.toLowerCase();
  return found
    .filter(({ path }) => !isEarlier || path.toLowerCase().includes(typed))
    .slice(0, SHOWN)
    .map(({ path }) => ({ name: path, note: "" }));
}
