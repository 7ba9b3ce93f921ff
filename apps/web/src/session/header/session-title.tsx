import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client.ts";
import { useShortcuts } from "../../ui/keyboard/shortcuts.ts";

/** The title, editable in place. */
export function SessionTitle({ session, title }: { session: string; title: string | null | undefined }) {
  const [draft, setDraft] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const rename = useMutation({
    mutationFn: (name: string) =>
      api.call("sessions.update", { params: { session_id: session }, body: { title: name === "" ? null : name } }),
    onSuccess: () => setDraft(undefined),
  });
  const isEditing = draft !== undefined;
  useEffect(() => {
    if (isEditing) input.current?.select();
  }, [isEditing]);
  const begin = (): void => setDraft(title ?? "");
  const save = (): void => {
    if (draft === undefined || rename.isPending) return;
    if (draft.trim() === (title ?? "")) setDraft(undefined);
    else rename.mutate(draft.trim());
  };
  useShortcuts("Session", { "shift+r": ["Rename session", begin] });

  if (!isEditing)
    return (
      <h1 className="min-w-0 truncate text-base font-semibold">
        <button
          type="button"
          onClick={begin}
          title="Rename"
          className="max-w-full truncate rounded text-left hover:bg-raised"
        >
          {(rename.isPending ? rename.variables : title) || "Untitled"}
        </button>
      </h1>
    );
  return (
    <>
      <h1 className="sr-only">{title ?? "Untitled"}</h1>
      <input
        ref={input}
        aria-label="Session name"
        value={draft}
        maxLength={512}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save();
          if (event.key === "Escape") setDraft(undefined);
        }}
        className="min-w-0 flex-1 rounded border border-accent bg-ground px-1.5 text-base font-semibold outline-none"
      />
      {rename.error && (
        <span role="alert" className="text-xs text-bad">
          {rename.error.message}
        </span>
      )}
    </>
  );
}
