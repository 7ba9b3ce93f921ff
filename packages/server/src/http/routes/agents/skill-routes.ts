import { downloadRoute, jsonRoute, uploadRoute, type Route } from "../../route.ts";
import { nextPage, toPageQuery } from "../../request/page-query.ts";

/** Skills: folders of instructions for agents, in versions. */
export const skillRoutes: Route[] = [
  uploadRoute("skills.create", {
    scope: "admin",
    at: "here",
    summary: "Create a skill from the files of its folder, or from one zip archive",
    handle: ({ engine, body, uploads, token, newId }) =>
      engine.skills.create(
        { files: uploads, displayName: body.display_name, by: token.name },
        { skill: newId("skill"), version: newId("skillVersion") },
      ),
    find: ({ engine, newId }) => engine.skills.get(newId("skill")),
  }),
  jsonRoute("skills.list", {
    scope: "read",
    at: "here",
    summary: "List skills, newest first, then those of trusted folders",
    handle: async ({ engine, query }) =>
      nextPage(await engine.skills.list({ ...toPageQuery(query), source: query.source })),
  }),
  jsonRoute("skills.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a skill",
    handle: ({ engine, params }) => engine.skills.get(params.skill_id),
  }),
  jsonRoute("skills.use", {
    scope: "read",
    at: "here",
    summary: "List the agents that have a skill, and the sizes of its versions",
    handle: ({ engine, params }) => engine.skills.use(params.skill_id),
  }),
  jsonRoute("skills.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a skill with all its versions; sessions that have it continue without it",
    handle: async ({ engine, params, token }) => {
      await engine.skills.delete(params.skill_id, token.name);
      return { type: "skill_deleted" as const, id: params.skill_id };
    },
  }),
  uploadRoute("skills.versions.create", {
    scope: "admin",
    at: "here",
    summary: "Add a version to a skill",
    handle: ({ engine, params, uploads, token, newId }) =>
      engine.skills.createVersion(params.skill_id, { files: uploads, by: token.name }, newId("skillVersion")),
    find: ({ engine, params, newId }) => engine.skills.version(params["skill_id"]!, newId("skillVersion")),
  }),
  jsonRoute("skills.versions.list", {
    scope: "read",
    at: "here",
    summary: "List the versions of a skill, newest first",
    handle: async ({ engine, params, query }) =>
      nextPage(await engine.skills.versions(params.skill_id, toPageQuery(query))),
  }),
  jsonRoute("skills.versions.retrieve", {
    scope: "read",
    at: "here",
    summary: "Retrieve a version of a skill, by its id or as `latest`",
    handle: ({ engine, params }) => engine.skills.version(params.skill_id, params.version),
  }),
  jsonRoute("skills.versions.delete", {
    scope: "admin",
    at: "here",
    summary: "Delete a version of a skill, unless it is the only one",
    handle: async ({ engine, params, token }) => {
      await engine.skills.deleteVersion(params.skill_id, params.version, token.name);
      return { type: "skill_version_deleted" as const, id: params.version };
    },
  }),
  downloadRoute("skills.versions.download", {
    scope: "read",
    at: "here",
    summary: "Download a version of a skill as a zip archive",
    handle: async ({ engine, params }) => {
      const content = await engine.skills.content(params.skill_id, params.version);
      return { ...content, mimeType: "application/zip" };
    },
  }),
];
