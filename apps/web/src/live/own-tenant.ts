import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api } from "../api/client.ts";
import { KeptValue } from "./kept-value.ts";
import { useLive } from "./live-value.ts";

/** Whose page this is. */
interface OwnTenant {
  id: string;
  name: string;
  /** Whether what is the machine's own is theirs, too. */
  is_operator: boolean;
}

/** As this browser last heard, so that nothing is shown first and taken away then. */
const known = new KeptValue<OwnTenant>("tandem.tenant", { id: "default", name: "default", is_operator: true });

/** The tenant that this browser has signed in as. */
export function useOwnTenant(): OwnTenant {
  const { data } = useQuery({
    queryKey: ["/v1/tenant"],
    queryFn: ({ signal }) => api.call("tenant.retrieve", { signal }),
    staleTime: Infinity,
  });
  const kept = useLive(known);
  useEffect(() => {
    if (data && (data.id !== known.current.id || data.name !== known.current.name)) {
      known.set({ id: data.id, name: data.name, is_operator: data.is_operator });
    }
  }, [data]);
  return data ?? kept;
}
