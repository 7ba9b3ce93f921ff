import { useCheckpoints } from "../changes-api.ts";
import { UndoRewind } from "./undo-rewind.tsx";

/** Offers the undo in the chat, where only the session is known. */
export default function UndoRewindDock({ session }: { session: string }) {
  const { data } = useCheckpoints(session);
  return data ? <UndoRewind session={session} turns={data.turns} /> : null;
}
