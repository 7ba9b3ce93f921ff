import { FileText, LoaderCircle, X } from "lucide-react";
import type { Attachment } from "./use-attachments.ts";

export function AttachmentList({
  attachments,
  onRemove,
}: {
  attachments: readonly Attachment[];
  onRemove: (key: number) => void;
}) {
  if (attachments.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 px-3 pt-2.5">
      {attachments.map(({ key, name, isImage, address, fileId, problem }) => (
        <li
          key={key}
          className="relative flex max-w-56 items-center gap-2 rounded-lg border border-line bg-ground p-1 text-xs"
        >
          {isImage ? (
            <img src={address} alt="" className="size-12 rounded object-cover" />
          ) : (
            <FileText aria-hidden className="m-1 size-5 text-ink-faint" />
          )}
          <span className="min-w-0">
            <span className="block truncate">{name}</span>
            {problem !== undefined && <span className="block text-bad">{problem}</span>}
            {problem === undefined && fileId === undefined && (
              <LoaderCircle aria-label="Uploading" className="size-3.5 animate-spin text-ink-faint" />
            )}
          </span>
          <button
            type="button"
            aria-label={`Remove ${name}`}
            onClick={() => onRemove(key)}
            className="self-start rounded p-1 text-ink-faint hover:bg-raised hover:text-ink max-md:p-2.5"
          >
            <X aria-hidden className="size-3.5" />
          </button>
        </li>
      ))}
    </ul>
  );
}
