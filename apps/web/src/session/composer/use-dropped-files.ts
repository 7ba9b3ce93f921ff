import { useEffect, useEffectEvent } from "react";

/** Files that are dropped anywhere on the page: beside the field is as good as into it. */
export function useDroppedFiles(add: (files: Iterable<File>) => void): void {
  const onDrop = useEffectEvent((event: DragEvent) => {
    const files = event.dataTransfer?.files;
    if (!files || files.length === 0) return;
    event.preventDefault();
    add(files);
  });
  useEffect(() => {
    const allow = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    };
    const drop = (event: DragEvent): void => onDrop(event);
    addEventListener("dragover", allow);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("drop", drop);
    };
  }, []);
}
