import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { api } from "../../api/client.ts";

/** Types that cannot contain scripts: a blob's address has the page's origin, and a user may open it in a tab. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The address of an uploaded image. The page fetches it, because an `<img>` cannot sign its request. */
export function useFileImage(id: string | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ["/v1/files/content", id],
    enabled: id !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const response = await api.download("files.download", { params: { file_id: id ?? "" }, signal });
      const content = await response.blob();
      return IMAGES.has(content.type) ? content : new Blob([content]);
    },
  });
  const address = useMemo(() => data && URL.createObjectURL(data), [data]);
  useEffect(() => {
    if (address === undefined) return;
    // Later, because React renders twice in development and could still show the first address.
    return () => void setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }, [address]);
  return address;
}
