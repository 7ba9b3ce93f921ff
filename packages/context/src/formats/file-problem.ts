/** A problem in a file, described for the person or agent that fixes it. */
export interface FileProblem {
  type: "bad_yaml" | "bad_front_matter" | "unknown_ref" | "unknown_citation" | "unknown_join";
  /** From 1; undefined for the whole file. */
  line: number | undefined;
  message: string;
}

export const describeProblem = ({ line, message }: FileProblem): string =>
  line === undefined ? message : `Line ${line}: ${message}`;
