# Fit R's models to the rows of make.py, and store what they say: Rscript make.R
library(MASS)
library(ordinal)
library(sandwich)
library(jsonlite)

read <- function(name, label) {
  rows <- read.csv(name)
  rows[[label]] <- factor(rows[[label]], ordered = TRUE)
  rows
}
grades <- read("grades.csv", "grade")
ratings <- read("ratings.csv", "rating")
stages <- read("stages.csv", "stage")

# Coefficients first, then thresholds, as we order them.
control <- clm.control(gradTol = 1e-10, maxIter = 200)
clm_numbers <- function(fit) {
  order <- c(names(fit$beta), names(fit$alpha))
  list(
    estimates = unname(c(fit$beta, fit$alpha)),
    std_errors = unname(sqrt(diag(vcov(fit)))[order]),
    log_likelihood = as.numeric(logLik(fit)), aic = AIC(fit), bic = BIC(fit)
  )
}
# ordinal puts 1e5 in place of infinity, where the Cauchy distribution still has 3e-6 to go, and
# MASS 100. The likelihood with infinite ends is maximised here by R's own optimiser.
exact_cauchit <- function(fit, rows, label, columns) {
  X <- as.matrix(rows[columns])
  k <- as.integer(rows[[label]])
  p <- length(columns)
  scale <- c(apply(X, 2, sd), rep(1, length(fit$alpha)))
  minus <- function(scaled) {
    par <- scaled / scale
    eta <- drop(X %*% par[1:p])
    edges <- c(-Inf, par[-(1:p)], Inf)
    -sum(log(pcauchy(edges[k + 1] - eta) - pcauchy(edges[k] - eta)))
  }
  found <- nlm(minus, c(fit$beta, fit$alpha) * scale, gradtol = 1e-12, steptol = 1e-12,
               iterlim = 1000)
  # Standard errors differ by less than their digits that are compared.
  list(estimates = unname(found$estimate / scale), std_errors = clm_numbers(fit)$std_errors,
       log_likelihood = -found$minimum)
}

models <- list()
add <- function(data, label, columns, link = "logit", weights = NULL) {
  rows <- get(data)
  formula <- as.formula(paste(label, "~", paste(columns, collapse = " + ")))
  # ordinal evaluates its weights where the formula is from.
  rows$.w <- if (is.null(weights)) rep(1, nrow(rows)) else rows[[weights]]
  fit <- eval(substitute(
    clm(F, data = rows, link = link, weights = .w, control = control), list(F = formula)
  ))
  numbers <- clm_numbers(fit)
  if (link == "cauchit") numbers <- exact_cauchit(fit, rows, label, columns)
  models[[length(models) + 1]] <<- c(
    list(data = data, label = label, columns = columns, link = link, weights = weights), numbers
  )
}
for (link in c("logit", "probit", "cloglog", "loglog", "cauchit")) {
  add("grades", "grade", c("age", "dose", "treated"), link)
  add("ratings", "rating", c("temp", "contact"), link)
}
add("grades", "grade", c("age", "dose", "treated"), weights = "weight")
add("grades", "grade", c("age", "dose"), link = "probit", weights = "weight")
add("ratings", "rating", c("temp", "contact", "judge"), weights = "count")
add("stages", "stage", paste0("x", 0:4))
add("stages", "stage", c("x0", "x1"), link = "probit")

# MASS::polr, whose scores sandwich knows. Its Hessian is by differences, clm's exact, so that the
# bread is clm's.
polr_fit <- polr(grade ~ age + dose + treated, data = grades, Hess = TRUE,
                 control = list(reltol = 1e-14, maxit = 1000))
clm_fit <- clm(grade ~ age + dose + treated, data = grades, control = control)
order <- c(names(clm_fit$beta), names(clm_fit$alpha))
bread <- vcov(clm_fit)[order, order]
scores <- estfun(polr_fit)
errors_by <- function(scores) unname(sqrt(diag(bread %*% crossprod(scores) %*% bread)))
polr_numbers <- list(
  estimates = unname(c(coef(polr_fit), polr_fit$zeta)),
  std_errors = unname(sqrt(diag(vcov(polr_fit)))),
  log_likelihood = as.numeric(logLik(polr_fit)),
  sandwich = errors_by(scores), clustered = errors_by(rowsum(scores, grades$group))
)

# Tests between nested models, and of proportional odds.
small <- clm(grade ~ age, data = grades, control = control)
large <- clm(grade ~ age + dose + treated, data = grades, control = control)
between <- anova(small, large)
nested <- list(statistic = between[["LR.stat"]][2], df = between[["df"]][2],
               p_value = between[["Pr(>Chisq)"]][2])
nominal <- list()
# nominal_test does not find rows that are a variable of a function, so its models are fitted here.
clm_of <- function(rows, label, columns, nominal, link) {
  side <- function(names) if (length(names)) paste(names, collapse = " + ") else "1"
  left <- as.formula(paste(label, "~", side(setdiff(columns, nominal))))
  right <- as.formula(paste("~", side(nominal)))
  eval(substitute(
    clm(L, nominal = R, data = rows, link = link, control = control), list(L = left, R = right)
  ))
}
add_nominal <- function(data, label, columns, link = "logit") {
  value <- function(nominal) as.numeric(logLik(clm_of(get(data), label, columns, nominal, link)))
  base <- value(character(0))
  nominal[[length(nominal) + 1]] <<- list(
    data = data, label = label, columns = columns, link = link,
    statistic = 2 * (sapply(columns, value) - base), whole_statistic = 2 * (value(columns) - base)
  )
}
add_nominal("grades", "grade", c("age", "dose", "treated"))
add_nominal("ratings", "rating", c("temp", "contact"))
add_nominal("ratings", "rating", c("temp", "contact"), "probit")
add_nominal("stages", "stage", c("x0", "x1"))

# Slopes of their own by threshold.
partial_fit <- clm(rating ~ temp, nominal = ~contact, data = ratings, control = control)
partial <- list(alpha = unname(partial_fit$alpha), names = names(partial_fit$alpha),
                beta = unname(partial_fit$beta),
                std_errors = unname(sqrt(diag(vcov(partial_fit)))[c(names(partial_fit$beta), names(partial_fit$alpha))]),
                log_likelihood = as.numeric(logLik(partial_fit)))

# Probabilities of the classes for the first rows, with errors and intervals.
new <- grades[1:5, c("age", "dose", "treated")]
probabilities <- predict(large, newdata = new, type = "prob", se.fit = TRUE, interval = TRUE)
predicted <- list(fit = unname(as.matrix(probabilities$fit)), se = unname(as.matrix(probabilities$se.fit)),
                  lower = unname(as.matrix(probabilities$lwr)), upper = unname(as.matrix(probabilities$upr)))

versions <- list(R = R.version.string)
for (package in c("MASS", "ordinal", "sandwich")) versions[[package]] <- as.character(packageVersion(package))
check <- clm(rating ~ temp + contact, data = ratings)
stopifnot(all.equal(nominal_test(check)$LRT[-1], unname(nominal[[2]]$statistic), tolerance = 1e-5))
result <- list(versions = versions, models = models, polr = polr_numbers, nested = nested,
               nominal = nominal, partial = partial, predicted = predicted)
write(toJSON(result, digits = 12, auto_unbox = TRUE, null = "null", pretty = TRUE), "fixtures.json")
