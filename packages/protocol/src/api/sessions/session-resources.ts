import { z } from "zod";
import { deletedOf, pageOf, pageQuery } from "../page.ts";
import { fileResource, sessionResource, sessionResourceParams } from "./mounted-resource.ts";

const tokenParams = z.strictObject({ authorization_token: z.string().min(1).max(8_192) });

export const sessionResourcesApi = {
  "sessions.resources.list": { query: z.strictObject(pageQuery), response: pageOf(sessionResource) },
  "sessions.resources.retrieve": { response: sessionResource },
  "sessions.resources.add": { body: sessionResourceParams, response: fileResource },
  "sessions.resources.update": { body: tokenParams, response: sessionResource },
  "sessions.resources.delete": { response: deletedOf("session_resource_deleted") },
};
