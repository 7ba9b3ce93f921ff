import type { SandboxHost } from "@tandem/protocol";
import { useServerQuery } from "../../api/use-server-query.ts";
import { AllowHostButtons } from "../../settings/allow-host-buttons.tsx";
import { useSession } from "../../state/session-context.ts";

const WHERE: Record<SandboxHost["scope"], string> = {
  once: "for five minutes",
  session: "for this session",
  folder: "in this folder",
};

/** Allows a refused host, or says that it is allowed by now. */
export function AllowHost({ host }: { host: string }) {
  const { id } = useSession();
  const hosts = useServerQuery("sandbox.hosts.list", { query: { session_id: id } });
  const grant = hosts.data?.data.find((one) => one.host === host);
  if (!grant) return <AllowHostButtons host={host} session={id} />;
  return (
    <output className="text-ink-soft">{`${host} is allowed ${WHERE[grant.scope]}, by ${grant.by}. Ask the agent to try again.`}</output>
  );
}
