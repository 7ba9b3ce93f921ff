import type {
  BodyInput,
  DownloadName,
  FormInput,
  JsonName,
  ParamsOf,
  QueryInput,
  ResponseOf,
  stdio,
  StreamName,
  UploadName,
} from "@tandem/protocol";

/** Methods that are answered once. */
export type StdioMethod = JsonName | UploadName | DownloadName;

/** A query has `"true"` where a line may also have `true`. The query of a route without one is `Record<string, never>`. */
type Fields<Query> = string extends keyof Query
  ? {}
  : { [Key in keyof Query]: Query[Key] extends "true" | "false" | undefined ? Query[Key] | boolean : Query[Key] };

type Body<Name extends StdioMethod | StreamName> = Name extends UploadName
  ? FormInput<Name> & stdio.FileParams
  : BodyInput<Name> extends undefined
    ? {}
    : Exclude<BodyInput<Name>, undefined>;

/** A route's path parameters, query and body are the params of one object. */
export type StdioParams<Name extends StdioMethod | StreamName> = ParamsOf<Name> &
  Fields<QueryInput<Name>> &
  Body<Name> &
  /** The cursor of the last event that the host has. */
  (Name extends StreamName ? { after?: string } : {});

export type StdioResult<Name extends StdioMethod> = Name extends JsonName | UploadName
  ? ResponseOf<Name>
  : stdio.FileResult;
