import type { Context } from "../context.ts";

export interface RecordOptions {
  port?: string;
}

export interface ServeOptions extends RecordOptions {
  proxy?: boolean;
}

export type ReplayOptions = ServeOptions;

export async function serve(_context: Context, _file: string, _options: ServeOptions): Promise<void> {}
export async function record(_context: Context, _file: string, _options: RecordOptions): Promise<void> {}
export async function replay(_context: Context, _file: string, _options: ReplayOptions): Promise<void> {}
