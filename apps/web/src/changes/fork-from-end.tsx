import { useCheckpoints } from "./changes-api.ts";
import { ForkDialog } from "./fork-dialog.tsx";

/** A fork from where the session is now, unless another turn is chosen. */
export default function ForkFromEnd({ session, onClose }: { session: string; onClose: () => void }) {
  const { data } = useCheckpoints(session);
  return <ForkDialog session={session} turns={data?.turns ?? []} turn={undefined} onClose={onClose} />;
}
