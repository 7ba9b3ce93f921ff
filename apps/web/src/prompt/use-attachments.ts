import type { UserContent } from "@tandem/protocol";
import { type ClipboardEvent, useState } from "react";
import { api } from "../api/client.ts";

/** A file of the next message. It is uploaded in advance, so that sending is fast. */
export interface Attachment {
  key: number;
  name: string;
  isImage: boolean;
  /** Object URL for the preview. */
  address: string;
  /** The id on the server; undefined while the upload runs. */
  fileId?: string;
  problem?: string;
}

let next = 0;

export function useAttachments(): {
  attachments: readonly Attachment[];
  isUploading: boolean;
  add: (files: Iterable<File>) => void;
  paste: (event: ClipboardEvent) => void;
  remove: (key: number) => void;
  clear: () => void;
} {
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const change = (key: number, fields: Partial<Attachment>): void =>
    setAttachments((all) => all.map((one) => (one.key === key ? { ...one, ...fields } : one)));
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      const key = next++;
      const isImage = file.type.startsWith("image/");
      const name = file.name || "picture";
      setAttachments((all) => [...all, { key, name, isImage, address: URL.createObjectURL(file) }]);
      void upload(file, name).then(
        (fileId) => change(key, { fileId }),
        (error: unknown) => change(key, { problem: error instanceof Error ? error.message : String(error) }),
      );
    }
  };
  const remove = (key: number): void =>
    setAttachments((all) => {
      for (const one of all) if (one.key === key) URL.revokeObjectURL(one.address);
      return all.filter((one) => one.key !== key);
    });
  const clear = (): void => {
    for (const { address } of attachments) URL.revokeObjectURL(address);
    setAttachments([]);
  };
  const paste = (event: ClipboardEvent): void => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    add(pasted);
  };
  const isUploading = attachments.some(({ fileId, problem }) => fileId === undefined && problem === undefined);
  return { attachments, isUploading, add, paste, remove, clear };
}

async function upload(file: File, name: string): Promise<string> {
  return (await api.upload("files.upload", { file, filename: name })).id;
}

export const blocksOf = (attachments: readonly Attachment[]): UserContent[] =>
  attachments.flatMap(({ fileId, isImage, name }): UserContent[] => {
    if (fileId === undefined) return [];
    const source = { type: "file" as const, file_id: fileId };
    return [isImage ? { type: "image", source } : { type: "document", source, title: name }];
  });
