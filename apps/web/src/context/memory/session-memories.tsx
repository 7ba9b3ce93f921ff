import { Brain } from "lucide-react";
import { useMemories } from "../context-api.ts";
import { ContextLink } from "../context-link.tsx";

/** For the page of a session: how much is remembered from it, and the way there. Nothing while it is nothing. */
export function SessionMemories({ session }: { session: string }) {
  const { data } = useMemories(session);
  const count = data?.data.length ?? 0;
  if (count === 0) return null;
  return (
    <ContextLink
      path="memory"
      search={{ session }}
      className="inline-flex min-h-7 items-center gap-1.5 rounded-md px-2 text-xs text-ink-soft hover:bg-raised pointer-coarse:min-h-10"
    >
      <Brain aria-hidden className="size-3.5" /> {count === 1 ? "1 memory" : `${count} memories`}
    </ContextLink>
  );
}
