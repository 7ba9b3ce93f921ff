import type { PartOf } from "@tandem/protocol";
import { useMutation, useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useEffect, useMemo } from "react";
import { api } from "../../api/client.ts";
import { saveDownload } from "../../api/save-download.ts";
import { Problem } from "../../ui/problem.tsx";

/** An image or a document. External files are named but never fetched, because a request would reveal the reader. */
export function FileBlock({ file }: { file: PartOf<"file">["file"] }) {
  const { source } = file;
  const fileId = source.type === "file" ? source.file_id : undefined;
  const uploaded = useFileImage(file.type === "image" ? fileId : undefined);
  const save = useMutation({
    mutationFn: async (id: string) => saveDownload(await api.download("files.download", { params: { file_id: id } })),
  });
  const image = source.type === "base64" ? `data:${source.media_type};base64,${source.data}` : uploaded;
  if (file.type === "image" && image !== undefined)
    return (
      <img src={image} alt="Attachment" className="max-h-64 max-w-full rounded-lg border border-line object-contain" />
    );
  const title = ("title" in file ? file.title : undefined) ?? (source.type === "url" ? source.url : file.type);
  const chip =
    "flex w-fit max-w-full items-center gap-2 rounded-lg border border-line bg-surface px-2.5 py-1.5 text-sm";
  const words = (
    <>
      <FileText aria-hidden className="size-4 shrink-0 text-ink-faint" />
      <span className="truncate">{title}</span>
    </>
  );
  if (fileId === undefined) return <span className={chip}>{words}</span>;
  return (
    <>
      <button type="button" className={`${chip} hover:bg-raised`} onClick={() => save.mutate(fileId)}>
        {words}
      </button>
      <Problem error={save.error} className="mt-1" />
    </>
  );
}

/** Types that cannot contain scripts: a blob's address has the page's origin, and a user may open it in a tab. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The address of an uploaded image. The page fetches it, because an `<img>` cannot sign its request. */
function useFileImage(id: string | undefined): string | undefined {
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
