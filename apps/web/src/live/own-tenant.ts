import type { ResponseOf } from "@tandem/protocol";
import { useEffect } from "react";
import { useServerQuery } from "../api/use-server-query.ts";
import { StoredValue } from "./stored-value.ts";
import { useLive } from "./live-value.ts";

type OwnTenant = Pick<ResponseOf<"tenant.retrieve">, "id" | "name" | "is_operator" | "demo">;

/** The last known tenant, so that operator pages do not flash before the response arrives. */
const known = new StoredValue<OwnTenant>("tandem.tenant", {
  id: "default",
  name: "default",
  is_operator: true,
  demo: false,
});

export function useOwnTenant(): OwnTenant {
  const { data } = useServerQuery("tenant.retrieve", {}, { staleTime: Infinity });
  const kept = useLive(known);
  useEffect(() => {
    if (!data) return;
    const { id, name, is_operator, demo } = data;
    const before = known.current;
    if (id !== before.id || name !== before.name || demo !== before.demo) known.set({ id, name, is_operator, demo });
  }, [data]);
  return data ?? kept;
}
