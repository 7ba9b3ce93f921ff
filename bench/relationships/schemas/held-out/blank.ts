import { code, int, money, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const blank: Schema = {
  name: "blank",
  about: "no rows at all, shortened and prefixed names, junctions",
  tables: {
    tblCompany: { rows: 0, columns: { CompanyID: serial(), CompanyName: words() } },
    tblDivision: { rows: 0, columns: { DivisionID: serial(), CompanyID: to("tblCompany.CompanyID"), Head: words() } },
    tblEmployee: {
      rows: 0,
      columns: {
        EmployeeID: serial(),
        DivID: to("tblDivision.DivisionID"),
        ManagerID: to("tblEmployee.EmployeeID"),
        Salary: money(),
      },
    },
    tblSkill: { rows: 0, columns: { SkillID: serial(), SkillName: words() } },
    tblEmployeeSkill: {
      rows: 0,
      columns: { EmployeeID: to("tblEmployee.EmployeeID"), SkillID: to("tblSkill.SkillID"), Years: int(1, 9) },
      key: ["EmployeeID", "SkillID"],
    },
    tblProject: {
      rows: 0,
      columns: { ProjectCode: code("AA##"), OwnerDivisionID: to("tblDivision.DivisionID"), Budget: money() },
    },
    tblAssignment: {
      rows: 0,
      columns: {
        ProjectCode: to("tblProject.ProjectCode", { type: "TEXT" }),
        EmployeeID: to("tblEmployee.EmployeeID"),
        Hours: int(1, 40),
      },
      key: ["ProjectCode", "EmployeeID"],
    },
  },
};
