import { z } from "zod";
import { session } from "./sessions.ts";
import { deletedOf, pageOf, pageQuery } from "../page.ts";

const resource = session.shape.resources.element;

const resourceParams = z.looseObject({ type: z.string() });

const tokenParams = z.looseObject({ authorization_token: z.string() });

export const sessionResourcesApi = {
  "sessions.resources.list": { query: z.strictObject(pageQuery), response: pageOf(resource) },
  "sessions.resources.retrieve": { response: resource },
  "sessions.resources.add": { body: resourceParams, response: resource },
  "sessions.resources.update": { body: tokenParams, response: resource },
  "sessions.resources.delete": { response: deletedOf("session_resource_deleted") },
};
