import type { JobId } from "@tandem/protocol";
import type { JobLease, JobStore } from "../job-store.ts";
import type { Database } from "../database.ts";
import type { Broadcast } from "../live/broadcast.ts";
import type { LogLease } from "../operations/fence.ts";
import {
  createJob,
  deleteJob,
  getJob,
  listJobs,
  readJobAfter,
  requestJobCancel,
  findHeldOfKind,
  takeJob,
  waitingJobs,
  writeJob,
} from "../operations/jobs.ts";
import { readHolder, releaseLease } from "../operations/leases.ts";
import { decodeJob, encodeJob, encodeJobChange, encodeJobEvent, toJobEvent } from "../rows/job-row.ts";
import { holderName, withProcess } from "../local-process.ts";
import { releaseDead, renewAll } from "./leases.ts";
import { readLogRows } from "./event-log.ts";
import { checkNames } from "./names.ts";
import { readList } from "./read-list.ts";
import { toIso, toSpan } from "../rows/time.ts";

const ofLog = ({ job, token }: JobLease): LogLease => ({ session: job, token });

export function createJobStore(database: Database, broadcast: Broadcast): JobStore {
  return {
    create: async (job) => {
      checkNames({ space: job.space, kind: job.kind });
      await database.write(createJob, encodeJob(job));
    },
    get: async (id) => {
      const row = await database.read(getJob, id);
      return row && decodeJob(row);
    },
    list: ({ limit, cursor, order, space, kind, states, created }) => {
      const filter = { space, kind, states, created: toSpan(created) };
      const read = (page: Parameters<typeof listJobs.work>[0]["page"]) => database.read(listJobs, { page, filter });
      return readList("jobs", { limit, cursor, order }, read, decodeJob);
    },
    take: async (id, name, ttlMs, { alone = false } = {}) => {
      const wanted = { session: id, holder: withProcess(name), ttlMs, alone };
      let token = await database.write(takeJob, wanted);
      if (token === undefined && (await releaseDead(database))) token = await database.write(takeJob, wanted);
      return token === undefined ? undefined : { job: id, token };
    },
    renew: async (leases, ttlMs) => {
      const kept = await renewAll(database, leases.map(ofLog), ttlMs);
      return leases.filter(({ job }) => !kept.has(job));
    },
    release: (lease) => database.write(releaseLease, ofLog(lease), lease.job),
    holder: async (id) => {
      const found = await database.read(readHolder, id);
      return found && { holder: holderName(found.holder), expiresAt: toIso(found.until) };
    },
    held: async (space, kind) => {
      await releaseDead(database);
      const found = await database.read(findHeldOfKind, { space, kind });
      return found && { id: found.id as JobId, holder: holderName(found.holder), expiresAt: toIso(found.until) };
    },
    waiting: async (space) => {
      await releaseDead(database);
      return (await database.read(waitingJobs, space)).map(decodeJob);
    },
    write: async (lease, events, change = {}) => {
      const now = Date.now();
      const rows = events.map((event) => encodeJobEvent(event, now));
      const args = { lease: ofLog(lease), rows, change: encodeJobChange(change) };
      const first = await database.write(writeJob, args, lease.job);
      const written = rows.map((row, index) => toJobEvent({ ...row, seq: first + index }));
      if (written.length > 0) broadcast.push(lease.job, written);
      if (change.state !== undefined && change.state !== "queued" && change.state !== "running") {
        broadcast.ended(lease.job);
      }
      return written;
    },
    events: async (id, range) => (await readLogRows(database, { ...range, session: id })).map(toJobEvent),
    follow: (id, after, signal) =>
      broadcast.follow(id, after, signal, async (from) => {
        const part = await database.read(readJobAfter, { session: id, after: from });
        return part && { events: part.rows.map(toJobEvent), more: part.more, ended: part.ended };
      }),
    requestCancel: (id) => database.write(requestJobCancel, id),
    delete: async (id) => {
      const isDeleted = await database.write(deleteJob, id);
      if (isDeleted) broadcast.gone(id);
      return isDeleted;
    },
  };
}
