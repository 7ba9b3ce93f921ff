/** What is wrong with a file, in words for whoever can mend it: a person or an agent. */
export interface FileProblem {
  type: "bad_yaml" | "bad_front_matter" | "unknown_ref" | "unknown_citation" | "unknown_join";
  /** From 1; undefined where it is about the file as a whole. */
  line: number | undefined;
  message: string;
}

export const describeProblem = ({ line, message }: FileProblem): string =>
  line === undefined ? message : `Line ${line}: ${message}`;
